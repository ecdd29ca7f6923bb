#ifndef CSWIFTRUNTIME_H
#define CSWIFTRUNTIME_H

// Entry points of the Swift runtime that have no spelling in Swift.

/// Retains an object unless it is being deallocated; NULL if it is. What loading a weak reference does.
void *_Nullable swift_tryRetain(void *_Nonnull object);

/// Keeps an object's memory allocated beyond its deallocation. What storing an unowned reference does.
void *_Nonnull swift_unownedRetain(void *_Nonnull object);

/// Ends what swift_unownedRetain began, and frees the memory of a deallocated object.
void swift_unownedRelease(void *_Nonnull object);

#endif
