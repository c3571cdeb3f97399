// SPDX-License-Identifier: Apache-2.0
// Shared libraries that are loaded on first use, never linked: cuDNN, cuBLASLt and NVML. Without them the program still starts
// and trains on the CPU, and names a missing library when one is needed. The functions are one list:
//
//   #define DNN_FUNCTIONS FUNCTION(cudnnCreate) FUNCTION(cudnnDestroy)
//   struct dnn_functions {
//   #define FUNCTION(name) __typeof__(&name) name;
//       DNN_FUNCTIONS
//   #undef FUNCTION
//   };
//   static const struct cuda_library library = {
//       .title = "cuDNN 9", .package = "libcudnn9-cuda-13", .files = (const char *const[]){"libcudnn.so.9", NULL},
//   #define FUNCTION(name) #name,
//       .functions = (const char *const[]){DNN_FUNCTIONS NULL},
//   #undef FUNCTION
//   };
//   TRY(cuda_library_load(&library, &dnn->functions));
#pragma once

#include "runtime/common/base/error.h"

struct cuda_library {
    const char *title;             // "cuDNN 9"
    const char *package;           // the package to install
    const char *const *files;      // file names, tried in order; ends with NULL
    const char *const *functions;  // ends with NULL
};

// Fills `into`, a struct of one function pointer per function, in the order of the list. Fails with ERR_MISSING and names the
// package if the library or a function is missing; `into` is then all NULL. A loaded library stays loaded until the program
// ends.
int cuda_library_load(const struct cuda_library *, void *into) MUST_CHECK;
