import Foundation

extension URL {
  /// The URL without the passwords that the URL of a store on a server may have: for errors, logs and
  /// descriptions.
  package var withoutPasswords: URL {
    if isFileURL { return self }
    guard var components = URLComponents(url: self, resolvingAgainstBaseURL: false) else { return self }
    components.password = nil
    components.queryItems = components.queryItems?.filter {
      $0.name != "password" && $0.name != "sslpassword"
    }
    return components.url ?? self
  }
}
