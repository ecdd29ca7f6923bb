import CoreDataMicroHTTPDBinding
import Foundation

/// Admits clients that opened the address shown in the terminal. Rejects other users, pages of other sites,
/// and host names that an attacker has pointed at this machine.
struct Gatekeeper: Sendable {
  let secrets: Secrets
  private let _address: String
  private let _port: Int

  init(secrets: Secrets, address: String, port: Int) {
    self.secrets = secrets
    _address = address
    _port = port
  }

  /// Cookies are shared by all ports of a host, so the name includes the port.
  private var _cookie: String { "coredata-explorer-\(_port)" }

  /// The address to be opened first.
  var url: String {
    "http://\(_address == "0.0.0.0" ? "127.0.0.1" : _address):\(_port)/?token=\(secrets.token)"
  }

  /// A rejection, or the response that exchanges the token for the cookie; nil for an admitted request.
  func answer(to request: HTTPRequest) -> HTTPResponse? {
    refusal(of: request) ?? (request.method == "POST" ? _refusalOfForm(request) : nil)
  }

  /// As `answer(to:)`, by the head of a request alone.
  func refusal(of request: HTTPRequest) -> HTTPResponse? {
    guard _isOwnHost(request) else {
      return Refusal.page(
        421, "This is another host",
        "The request names a host that the explorer does not serve. Open the address that the terminal shows."
      )
    }
    guard ["GET", "HEAD", "POST"].contains(request.method) else {
      return Refusal.page(
        405, "No such method", "The explorer answers GET, HEAD and POST.", [("Allow", "GET, HEAD, POST")])
    }
    if request.method != "POST", request.path == "/", let token = request.query("token") {
      return Secrets.equal(token, secrets.token) ? _entry() : _unknown()
    }
    // Style and script contain no data of the store, and rejection pages need the style.
    if request.method != "POST", Assets.isPublic(request.path) { return nil }
    guard let cookie = request.cookies[_cookie], Secrets.equal(cookie, secrets.session) else {
      return _unknown()
    }
    return request.method == "POST" ? _refusalOfOrigin(request) : nil
  }

  /// A page that sets the cookie and continues to the first page: a redirect would still count as coming from
  /// the site with the link, and a strict cookie would not be sent.
  private func _entry() -> HTTPResponse {
    let page = PageFrame.bare(
      title: "Opening the store",
      head: .void("meta", ["http-equiv": "refresh", "content": "0;url=/"]),
      .tag("p", [:], .link(Place("/"), "Open the store")))
    var answer = HTTPResponse(status: 200, text: page)
    answer.headers =
      SecurityHeaders.page + [
        ("Set-Cookie", "\(_cookie)=\(secrets.session); Path=/; HttpOnly; SameSite=Strict")
      ]
    return answer
  }

  private func _unknown() -> HTTPResponse {
    Refusal.page(
      401, "Not let in",
      "This address lacks the token of the running explorer. Open the address that 'coredata explore' printed; each "
        + "start prints a new one.")
  }

  /// Accepts only numeric hosts and `localhost`: any domain name may resolve to this machine.
  private func _isOwnHost(_ request: HTTPRequest) -> Bool {
    guard request.headerCount("host") == 1, let host = request.header("host")?.lowercased() else {
      return false
    }
    var names = ["127.0.0.1", "localhost", "[::1]"]
    if _address != "127.0.0.1", _address != "0.0.0.0" { names.append(_address) }
    if names.contains(where: { host == "\($0):\(_port)" || (_port == 80 && host == $0) }) { return true }
    guard _address == "0.0.0.0" else { return false }
    // Listening on all addresses: any of them as numbers.
    let parts = host.split(separator: ":")
    var numeric = in_addr()
    return parts.count == 2 && Int(parts[1]) == _port && inet_pton(AF_INET, String(parts[0]), &numeric) == 1
  }

  private func _refusalOfOrigin(_ request: HTTPRequest) -> HTTPResponse? {
    // Browsers send the origin of a post; without it, only the form's token is checked.
    if let origin = request.header("origin") {
      guard let host = request.header("host"), origin.lowercased() == "http://\(host.lowercased())" else {
        return Refusal.page(
          403, "From another site", "This form comes from another site. Send it from a page of the explorer.")
      }
    }
    if let site = request.header("sec-fetch-site"), site != "same-origin" {
      return Refusal.page(
        403, "From another site", "This form comes from another site. Send it from a page of the explorer.")
    }
    return nil
  }

  private func _refusalOfForm(_ request: HTTPRequest) -> HTTPResponse? {
    switch request.bodyProblem {
    case .tooLarge: return Refusal.page(413, "Too much", "The form is longer than the explorer takes.")
    case .unknownType: return Refusal.page(415, "No form", "Only forms can be posted.")
    case nil: break
    }
    guard let token = request.field("form-token"), Secrets.equal(token, secrets.form) else {
      return Refusal.page(
        403, "An old form",
        "The form does not come from a page of this explorer. Reload the page, and send it again.")
    }
    return nil
  }
}
