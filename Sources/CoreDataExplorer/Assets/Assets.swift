import CoreDataMicroHTTPDBinding
import CoreDataModelTools

/// The explorer's own files: the same for every store.
enum Assets {
  static func isPublic(_ path: String) -> Bool { _files[path] != nil }

  static func answer(_ path: String) -> HTTPResponse? {
    guard let file = _files[path] else { return nil }
    return HTTPResponse(headers: SecurityHeaders.files + [("Content-Type", file.type)], text: file.text)
  }

  private static let _files: [String: (type: String, text: String)] = [
    "/style.css": (
      "text/css; charset=utf-8", StyleSheet.text + "\nsvg.graph {\n\(ModelDrawing.style)\n}\n"
    ),
    "/script.js": ("text/javascript; charset=utf-8", PageScript.text),
    "/icon.svg": (
      "image/svg+xml",
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="none" stroke="#3f6fb5" stroke-width="1.6">\
      <ellipse cx="8" cy="4" rx="5.5" ry="2.2"/><path d="M2.5 4v8c0 1.2 2.5 2.2 5.5 2.2s5.5-1 5.5-2.2V4M2.5 8c0 1.2 2.5 2.2 5.5 2.2s5.5-1 5.5-2.2"/></g></svg>
      """
    ),
  ]
}
