import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataStoreTools
import Foundation

/// Finds the page for a request that the gatekeeper has let in.
struct Router: Sendable {
  let store: ExploredStore
  let secrets: Secrets

  func answer(to request: HTTPRequest) -> HTTPResponse {
    if let asset = Assets.answer(request.path) { return asset }
    let visit = Visit(request: request, store: store, secrets: secrets)
    do {
      return try _answer(visit)
    } catch {
      return _failure(error, visit)
    }
  }

  private func _answer(_ visit: Visit) throws -> HTTPResponse {
    switch (visit.request.method, visit.request.path) {
    case ("POST", _): throw Missing(what: "Nothing can be posted to '\(visit.request.path)'.")
    case (_, "/"): return try EntitiesPage(visit).answer()
    case (_, "/entity"): return try EntityPage(visit).answer()
    case (_, "/object"): return try ObjectPage(visit).answer()
    case (_, "/blob"): return try BlobAnswer(visit).answer()
    default: throw Missing(what: "There is no page '\(visit.request.path)'.")
    }
  }

  /// Something that is not there.
  struct Missing: Error {
    let what: String
  }

  private func _failure(_ error: any Error, _ visit: Visit) -> HTTPResponse {
    let (status, title, text): (Int, String, String) =
      switch error {
      case let missing as Missing: (404, "Not there", missing.what)
      case let problem as TableRequest.Problem: (400, "This cannot be shown", problem.description)
      case is ReaderPool.Busy: (503, "Busy", "\(error)")
      case QueryBudget.Exceeded.clientLeft: (503, "Stopped", "\(error)")
      case is QueryBudget.Exceeded: (503, "Stopped", "\(error)")
      default: (500, "The store cannot be read", StoreInput.failure(error, store.name).message)
      }
    return PageFrame(visit, title: title).answer(
      status: status,
      .tag("h1", [:], HTML(title)), .tag("p", ["class": "problem", "role": "alert"], HTML(text)))
  }
}

/// A request on its way through a page.
struct Visit: Sendable {
  let request: HTTPRequest
  let store: ExploredStore
  let secrets: Secrets
  let budget: QueryBudget
  let begin = ContinuousClock.now

  init(request: HTTPRequest, store: ExploredStore, secrets: Secrets) {
    (self.request, self.store, self.secrets) = (request, store, secrets)
    budget = QueryBudget(seconds: store.limits.pageSeconds, client: request.client)
  }
}
