import Foundation

extension Bundle {
  /// The program's own bundle; nil without `/proc`, as in a bare root, where Foundation does not find the executable and
  /// `Bundle.main` traps.
  package static var program: Bundle? {
    #if os(Linux)
    let executable = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return executable == nil ? nil : main
    #else
    return main
    #endif
  }

  /// The place of the program, for messages.
  static var programPath: String { program?.bundlePath ?? FileManager.default.currentDirectoryPath }
}
