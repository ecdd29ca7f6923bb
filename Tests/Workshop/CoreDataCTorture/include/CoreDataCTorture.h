#ifndef COREDATACTORTURE_H
#define COREDATACTORTURE_H

#include "TorturePage.h"

// What the trials of Scripts/stress torture need of the operating system and of SQLite. Linux only.

/// A zeroed page that children share with the process that forks them; NULL if there is no memory.
struct torture_page *torture_page_make(void);
/// Clears everything but the page itself.
void torture_page_clear(struct torture_page *page);

/// Number of the last save that process `writer` has begun, or has been told is saved.
int64_t torture_begun(const struct torture_page *page, int writer);
int64_t torture_acknowledged(const struct torture_page *page, int writer);
void torture_begin(struct torture_page *page, int writer, int64_t number);
void torture_acknowledge(struct torture_page *page, int writer, int64_t number);

/// Text that a child leaves for its parent.
void torture_set_words(struct torture_page *page, const char *words);
const char *torture_words(const struct torture_page *page);
/// Number of calls that an action could have hit.
int64_t torture_call_count(const struct torture_page *page, int action);
/// The call that a kill or a fault met.
const char *torture_call(const struct torture_page *page);
/// Waits until the parent starts all children.
void torture_wait_for_start(struct torture_page *page);
/// Starts the children that wait, once there are `count` of them.
void torture_start(struct torture_page *page, int count);
void torture_set_prefix(struct torture_page *page, const char *prefix);

/// fork(2). The caller must have one thread only.
int torture_fork(void);
/// Runs `body` in a new thread, and waits for it.
void torture_run_in_thread(void (*body)(void *), void *context);
/// Number of threads of this process.
int torture_thread_count(void);
/// Waits for a child for so many microseconds; 1 when it has ended, 0 when not.
int torture_wait(int child, int64_t microseconds, int *status);
int64_t torture_now_microseconds(void);

/// Whether the library that counts system calls is loaded.
int torture_is_preloaded(void);
/// Lets the plan of `page` decide about the calls of this process from now on; NULL ends it.
void torture_attach(struct torture_page *page);
/// Makes a VFS that follows the plan SQLite's default one; returns SQLite's result.
int torture_vfs_register(void);

/// Moves this process to a new mount namespace; 0 or an errno.
int torture_private_mounts(void);
/// Mounts a file system in memory of so many bytes, or changes its size; 0 or an errno.
int torture_mount(const char *path, int64_t bytes);
int torture_resize(const char *path, int64_t bytes);
int torture_unmount(const char *path);

#endif
