#ifndef CSWIFTRUNTIME_H
#define CSWIFTRUNTIME_H

// Entry points of the Swift runtime that have no spelling in Swift.

/// Retains an object unless it is being deallocated; NULL if it is. What loading a weak reference does.
void *_Nullable swift_tryRetain(void *_Nonnull object);

/// Keeps an object's memory allocated beyond its deallocation. What storing an unowned reference does.
void *_Nonnull swift_unownedRetain(void *_Nonnull object);

/// Ends what swift_unownedRetain began, and frees the memory of a deallocated object.
void swift_unownedRelease(void *_Nonnull object);

/// What a type's metadata accessor answers.
typedef struct {
  const void *_Nullable metadata;
  unsigned long state;
} coredata_metadata_response;

/// The metadata of a type that is not generic, by its descriptor, whose fourth word is the relative address of the metadata's
/// accessor. NULL if the type has no accessor.
static inline const void *_Nullable coredata_metadata(const void *_Nonnull descriptor) {
  typedef __attribute__((swiftcall)) coredata_metadata_response accessor(unsigned long request);
  const int *field = (const int *)descriptor + 3;
  if (*field == 0) return 0;
  return ((accessor *)((const char *)field + *field))(0).metadata;
}

#endif
