import Foundation

/// The kernel's policy for this process's threads.
enum Scheduling {
  /// Whether threads run before all ordinary ones until they wait (`SCHED_FIFO`, `SCHED_RR`), as under `chrt -f`.
  ///
  /// Two such threads on two processors starve the kernel's own threads, which write the files, and the kernel stops
  /// them for the rest of each second in which they ran for 950 ms. A real-time priority therefore steadies the figures
  /// of one thread and unsettles those of several.
  static var isRealTime: Bool {
    let policy = sched_getscheduler(0)
    return policy == Int32(SCHED_FIFO) || policy == Int32(SCHED_RR)
  }

  /// Returns the calling thread, and those that it starts, to ordinary scheduling.
  static func becomeOrdinary() {
    guard isRealTime else { return }
    var parameters = sched_param()
    sched_setscheduler(0, Int32(SCHED_OTHER), &parameters)
  }
}
