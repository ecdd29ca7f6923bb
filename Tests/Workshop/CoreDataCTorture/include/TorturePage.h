#ifndef TORTURE_PAGE_H
#define TORTURE_PAGE_H

#include <stdint.h>

// The memory that a process under trial shares with the one that watches it. It outlives a SIGKILL.

enum { torture_writer_limit = 64 };

/// Whose calls count.
enum torture_layer {
  torture_layer_system = 0,
  torture_layer_vfs = 1,
};

/// What happens at the call in question.
enum torture_action {
  torture_count_changes = 0,
  torture_kill_before = 1,
  torture_kill_after = 2,
  torture_kill_amid = 3,
  torture_no_space = 4,
  torture_io_error = 5,
  torture_short_write = 6,
  torture_io_error_from_now_on = 7,
  torture_action_count = 8,
};

/// What kind of call it is: one may be several.
enum torture_call_kind {
  torture_call_changes = 1,
  torture_call_grows = 2,
  torture_call_syncs = 4,
  torture_call_reads = 8,
  torture_call_transfers = 16,
};

struct torture_plan {
  int32_t is_armed;
  int32_t layer;
  int32_t action;
  int32_t is_traced;
  /// Number of the call that is hit, from 1; 0 hits none.
  int64_t at;
  /// Calls so far that each action may hit.
  int64_t counts[torture_action_count];
  /// Calls that were hit.
  int64_t hits;
  /// Files below this directory count.
  char prefix[512];
  char call[256];
};

struct torture_page {
  struct torture_plan plan;
  int64_t begun[torture_writer_limit];
  int64_t acknowledged[torture_writer_limit];
  /// Children that wait for `is_open`.
  int32_t waiting;
  int32_t is_open;
  int32_t failure_count;
  int32_t state;
  int64_t microseconds;
  char words[4096];
};

/// Which kinds of call an action may hit.
static inline int torture_hits(int action, int kind) {
  switch (action) {
  case torture_count_changes:
  case torture_kill_before:
  case torture_kill_after:
  case torture_kill_amid:
    return (kind & (torture_call_changes | torture_call_grows)) != 0;
  case torture_no_space:
    return (kind & (torture_call_grows | torture_call_syncs)) != 0;
  case torture_short_write:
    return (kind & torture_call_transfers) != 0;
  default:
    return 1;
  }
}

/// Counts a call for each action that may hit it; its number for the action of the plan, 0 if that may not.
static inline int64_t torture_count(struct torture_plan *plan, int kind) {
  int64_t number = 0;
  for (int action = 0; action < torture_action_count; action++) {
    if (!torture_hits(action, kind)) continue;
    int64_t count = __atomic_add_fetch(&plan->counts[action], 1, __ATOMIC_SEQ_CST);
    if (action == plan->action) number = count;
  }
  return number;
}

#endif
