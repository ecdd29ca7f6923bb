// A catalogue of books over HTTP: concurrent requests, a background context for each, and a feed of changes from
// the store's persistent history.
//
//   swift run BookShelfServer
//   curl -d '{"title":"Emma","author":"Jane Austen"}' http://127.0.0.1:8080/books
//   curl 'http://127.0.0.1:8080/books?author=Jane%20Austen'
//   curl 'http://127.0.0.1:8080/changes?since=0'

import Foundation

let settings = try Settings(ProcessInfo.processInfo.environment)
let catalogue = try Catalogue(storeURL: settings.storeURL)
let listener = try Listener(host: settings.host, port: settings.port, capacity: 32) { request in
  catalogue.answer(request)
}

// A container is stopped with SIGTERM, a program in a terminal with SIGINT. Requests in progress are finished
// first.
let signals = [SIGTERM, SIGINT].map { number in
  signal(number, SIG_IGN)
  let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
  source.setEventHandler {
    listener.stop()
    catalogue.close()
    exit(0)
  }
  source.resume()
  return source
}
// A client that disconnects early must not end the server.
signal(SIGPIPE, SIG_IGN)

FileHandle.standardOutput.write(
  Data("Listening on http://\(settings.host):\(listener.port), store at \(settings.storeURL.path)\n".utf8))
listener.start()
dispatchMain()
