// SPDX-License-Identifier: Apache-2.0
// Shared libraries that are loaded when they are first needed, never linked: cuDNN, cuBLASLt and NVML. So the program
// starts, trains on the processor and says what is missing where they are not installed. The functions are one list:
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
#ifndef DAWN_CUDA_LIBRARY_H
#define DAWN_CUDA_LIBRARY_H

#include "runtime/base/error.h"

struct cuda_library {
    const char *title;             // "cuDNN 9"
    const char *package;           // what brings it, for people
    const char *const *files;      // names, tried in order; the last one is NULL
    const char *const *functions;  // names; the last one is NULL
};

// Fills `into`, a struct of as many function pointers as the library has functions, in their order. ERR_MISSING, with a
// sentence that names the package, when the library or one of its functions is not there: then `into` is all NULL. What
// was loaded stays loaded until the program ends.
int cuda_library_load(const struct cuda_library *, void *into) MUST_CHECK;

#endif
