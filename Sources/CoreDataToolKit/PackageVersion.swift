/// The version of the package, which all of its programs print for `--version`.
package enum PackageVersion {
  /// The one place that states it. `Scripts/release` reads it here, and requires that CHANGELOG.md has a section for it.
  package static let number = "0.3.0"

  /// The commit, which `git archive` writes into the sources that it exports, and with it `Scripts/release`.
  private static let _exported = "$Format:%h$"

  /// The number and the commit, such as `0.2.0 (1c9f0a2)`; a program that is built in a work tree is `unreleased`.
  package static let text = "\(number) (\(_exported.hasPrefix("$") ? "unreleased" : _exported))"
}
