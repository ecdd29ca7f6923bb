import CoreDataMicroHTTPDBinding

/// Header fields that prevent a malicious store's content from running in the browser, and keep other sites
/// out.
enum SecurityHeaders {
  private static let _common: [(name: String, value: String)] = [
    ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("X-Frame-Options", "DENY"), ("Cache-Control", "no-store"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
  ]

  /// For pages: only the explorer's own style, script, pictures and forms.
  static let page =
    files + [
      ("Content-Type", "text/html; charset=utf-8"),
      (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
          + "base-uri 'none'; frame-ancestors 'none'"
      ),
    ]

  /// For bytes of the store: forbids everything.
  static let bytes =
    _common + [("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")]

  /// For the explorer's own files and its data.
  static let files = _common
}

/// Pages for requests without another response.
enum Refusal {
  static func page(
    _ status: Int, _ title: String, _ text: String, _ headers: [(name: String, value: String)] = []
  ) -> HTTPResponse {
    let page = PageFrame.bare(
      title: title, head: .empty, .tag("h1", [:], HTML(title)), .tag("p", [:], HTML(text)))
    return HTTPResponse(status: status, headers: SecurityHeaders.page + headers, text: page)
  }
}
