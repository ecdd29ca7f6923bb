import Foundation

/// Collations of the current locale, for localized sort descriptors.
///
/// The server uses the rules of its own ICU library; the order may differ for letters newer than that
/// library.
struct PostgreSQLCollations {
  static let localized = PostgreSQLCollations("localized", "", isDeterministic: true)
  static let localizedCaseInsensitive = PostgreSQLCollations(
    "localized_ci", "-u-ks-level2", isDeterministic: false)
  static let localizedStandard = PostgreSQLCollations(
    "localized_standard", "-u-kn-true", isDeterministic: true)
  static let all = [localized, localizedCaseInsensitive, localizedStandard]

  /// Quoted, without the schema.
  let name: String
  private let _locale: String
  private let _isDeterministic: Bool

  private init(_ stem: String, _ keywords: String, isDeterministic: Bool) {
    // Only letters and digits of the locale's language and region are significant.
    let parts = Locale.current.identifier.split(whereSeparator: { !$0.isLetter && !$0.isNumber })
    let language = parts.first.map(String.init) ?? "en"
    let region = parts.dropFirst().first.map { "-" + $0 } ?? ""
    name = PostgreSQLNames.quoted("\(stem)_\(language)\(region)")
    _locale = language + region + keywords
    _isDeterministic = isDeterministic
  }

  /// Returns whether a message of the server, in any language, names one of the collations.
  static func isNamed(in message: String) -> Bool {
    all.contains { message.contains(PostgreSQLNames.plain($0.name)) }
  }

  func statement(schema: String) -> String {
    """
    CREATE COLLATION IF NOT EXISTS \(PostgreSQLNames.quoted(schema)).\(name) (provider = icu, \
    locale = \(PostgreSQLNames.literal(_locale)), deterministic = \(_isDeterministic))
    """
  }
}
