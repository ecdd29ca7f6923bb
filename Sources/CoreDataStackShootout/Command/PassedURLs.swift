import CoreDataToolKit
import Foundation

/// The URLs of stores on servers in a command line, which a program that is started for it gets in its environment: every user of
/// the machine can read arguments, and a URL may have a password.
struct PassedURLs {
  private static let _variable = "COREDATA_SHOOTOUT_URLS"
  private static let _mark = "server-store:"

  /// The arguments with numbers in place of URLs.
  let words: [String]
  private let _urls: [String]

  /// - Parameter words: Arguments, with URLs as words or after an equals sign.
  init(_ words: [String]) {
    var urls: [String] = []
    self.words = words.map { word in
      let value = word.hasPrefix("--") ? word.split(separator: "=", maxSplits: 1).last.map(String.init) : word
      guard let value, ServerStore.isURL(value) else { return word }
      urls.append(value)
      return word.dropLast(value.count) + Self._mark + String(urls.count - 1)
    }
    _urls = urls
  }

  /// Puts the URLs into this process's environment, for the program that replaces it.
  func export() {
    let text = (try? JSONEncoder().encode(_urls)).map { String(decoding: $0, as: UTF8.self) }
    setenv(Self._variable, text ?? "[]", 1)
  }

  /// The arguments with the URLs that the program which started this one has passed.
  static func restored(_ arguments: ParsedArguments, _ environment: ToolEnvironment) -> ParsedArguments {
    guard let text = environment.variables[_variable],
      let urls = try? JSONDecoder().decode([String].self, from: Data(text.utf8))
    else { return arguments }
    func restored(_ value: String) -> String {
      guard value.hasPrefix(_mark), let number = Int(value.dropFirst(_mark.count)),
        urls.indices.contains(number)
      else { return value }
      return urls[number]
    }
    return ParsedArguments(
      values: arguments.values.mapValues { $0.map(restored) }, operands: arguments.operands)
  }
}
