// A catalogue of books over HTTP: concurrent requests, a background context for each, and a feed of changes from
// the store's persistent history.
//
//   swift run BookShelfServer
//   curl -d '{"title":"Emma","author":"Jane Austen"}' http://127.0.0.1:8080/books
//   curl 'http://127.0.0.1:8080/books?author=Jane%20Austen'
//   curl 'http://127.0.0.1:8080/changes?since=0'

import Foundation
import HTTPService

let settings = try Settings(ProcessInfo.processInfo.environment)
let catalogue = try Catalogue(storeURL: settings.storeURL)

// A container is stopped with SIGTERM, a program in a terminal with SIGINT. Requests in progress are finished first.
try Service { catalogue.answer($0) }.run(host: settings.host, port: settings.port) { port in
  FileHandle.standardOutput.write(
    Data("Listening on http://\(settings.host):\(port), store at \(settings.storeURL.path)\n".utf8))
} end: {
  catalogue.close()
}
