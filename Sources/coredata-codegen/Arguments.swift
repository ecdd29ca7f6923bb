import Foundation

/// The command line is invalid.
struct UsageError: Error {
  let message: String
}

/// The arguments of a command: options with a value, flags, and the rest.
struct Arguments {
  private var _values: [String: [String]] = [:]
  private var _flags: Set<String> = []
  private(set) var rest: [String] = []

  /// - Throws: `UsageError` for an option that is not among `options` and `flags`.
  init(_ arguments: [String], options: Set<String>, flags: Set<String> = []) throws {
    var index = 1
    while index < arguments.count {
      let argument = arguments[index]
      index += 1
      guard argument.hasPrefix("--") else {
        rest.append(argument)
        continue
      }
      if flags.contains(argument) {
        _flags.insert(argument)
        continue
      }
      guard options.contains(argument) else {
        let known = options.union(flags).sorted().joined(separator: ", ")
        throw UsageError(
          message: "coredata-codegen \(arguments[0]): unknown option \(argument); there are \(known)")
      }
      guard index < arguments.count else {
        throw UsageError(message: "coredata-codegen \(arguments[0]): \(argument) needs a value")
      }
      _values[argument, default: []].append(arguments[index])
      index += 1
    }
  }

  func values(_ option: String) -> [String] { _values[option] ?? [] }

  func has(_ flag: String) -> Bool { _flags.contains(flag) }

  func value(_ option: String) throws -> String {
    guard let value = _values[option]?.last else { throw UsageError(message: "\(option) is missing") }
    return value
  }
}
