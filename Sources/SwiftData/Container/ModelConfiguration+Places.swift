import Foundation

extension ModelConfiguration {
  /// A group of applications that share a store.
  public struct GroupContainer: Hashable, Sendable {
    let identifier: String?
    private let _isAutomatic: Bool

    /// The application's own directory, since there are no entitlements here.
    public static var automatic: GroupContainer { GroupContainer(identifier: nil, _isAutomatic: true) }
    /// The application's own directory.
    public static var none: GroupContainer { GroupContainer(identifier: nil, _isAutomatic: false) }

    /// The directory of a group: `<group>/Library/Application Support` under `SWIFTDATA_GROUP_CONTAINERS`, or
    /// if that isn't set, under `Group Containers` in the user's data directory.
    public static func identifier(_ groupName: String) -> GroupContainer {
      GroupContainer(identifier: groupName, _isAutomatic: false)
    }
  }

  /// A CloudKit database; accepted, but without effect.
  public struct CloudKitDatabase: Hashable, Sendable {
    private let _name: String

    /// Without effect.
    public static var automatic: CloudKitDatabase { CloudKitDatabase(_name: "automatic") }
    /// Without effect.
    public static var none: CloudKitDatabase { CloudKitDatabase(_name: "none") }
    /// Without effect.
    public static func `private`(_ privateDBName: String) -> CloudKitDatabase {
      CloudKitDatabase(_name: "private \(privateDBName)")
    }
  }
}

/// Default directories of stores.
enum DefaultPlace {
  static func directory(ofGroup group: String?) -> URL {
    guard let group else { return _userData.appendingPathComponent(_program, isDirectory: true) }
    // A name from outside must not escape the directory.
    let safe = group.replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "..", with: "_")
    let base =
      ProcessInfo.processInfo.environment["SWIFTDATA_GROUP_CONTAINERS"].map {
        URL(fileURLWithPath: $0, isDirectory: true)
      } ?? _userData.appendingPathComponent("Group Containers", isDirectory: true)
    return base.appendingPathComponent("\(safe)/Library/Application Support", isDirectory: true)
  }

  private static var _userData: URL {
    FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
      ?? URL(fileURLWithPath: NSHomeDirectory()).appendingPathComponent(".local/share", isDirectory: true)
  }

  /// Programs share the user's data directory here; each has a subdirectory.
  private static var _program: String {
    let name = URL(fileURLWithPath: CommandLine.arguments.first ?? "").lastPathComponent
    return name.isEmpty || name == "/" ? "SwiftData" : name
  }
}
