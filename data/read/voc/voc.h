// SPDX-License-Identifier: Apache-2.0
// Pictures with boxes as PASCAL VOC stores them (Everingham et al. 2010): Annotations/NAME.xml, JPEGImages/NAME.jpg, and lists of
// names in ImageSets/Main.
//
//   <annotation> <size> <width>640</width> <height>480</height> </size>
//     <object> <name>RBC</name> <bndbox> <xmin>16</xmin> <ymin>195</ymin> <xmax>119</xmax> <ymax>303</ymax> </bndbox> </object>
//   </annotation>
//
// Other elements, attributes, comments and processing instructions are not read. Entities in elements read, document types
// and CDATA are refused. Coordinates are taken as they are: a box covers [xmin, xmax) x [ymin, ymax) of the picture.
#pragma once

#include "runtime/common/base/error.h"

enum { VOC_BYTES = 4 << 20, VOC_OBJECTS = 1000, VOC_SIDE = 65500, VOC_NAMES = 100000, VOC_NAME = 64 };
enum voc_member { VOC_CLASS, VOC_LEFT, VOC_TOP, VOC_RIGHT, VOC_BOTTOM, VOC_MEMBERS };

struct voc_object {
    int32_t at[VOC_MEMBERS];  // its class, then the box in pixels
    int64_t line;
};
struct voc {
    int32_t width, height;
    struct voc_object *object;
    int64_t objects;
};
// Both are pure; `name` names the file in errors, which name the line, too. `classes` ends with NULL.
int voc_parse(const char *name, const char *text, size_t n, const char *const *classes, struct voc *) MUST_CHECK;
void voc_free(struct voc *);
bool voc_is_empty(const struct voc_object *);  // a box without an area

// One name per line: letters, digits, '_', '-' and '.', at most VOC_NAME - 1 characters, no '.' at the start; each name once.
struct voc_names {
    char (*name)[VOC_NAME];
    int64_t count;
};
int voc_parse_names(const char *name, const char *text, size_t n, struct voc_names *) MUST_CHECK;
void voc_names_free(struct voc_names *);
