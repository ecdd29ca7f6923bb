#ifndef CSWIFTRUNTIME_H
#define CSWIFTRUNTIME_H

// Entry points of the Swift runtime that have no spelling in Swift.

/// Retains an object unless it is being deallocated; NULL if it is. What loading a weak reference does.
void *_Nullable swift_tryRetain(void *_Nonnull object);

#endif
