import CoreData
import Foundation
import HTTPService

/// Orders over HTTP: any number of such processes, of this version and the next, serve one database behind a proxy.
///
///     POST   /orders          {"number": "17", "item": "tea"}    places an order; 200 if it was placed before
///     GET    /orders/17                                          the order
///     DELETE /orders/17                                          cancels the order
///     GET    /health                                             whether the process can work
struct OrderService: Sendable {
  private let _desk: Desk

  init(_ desk: Desk) { _desk = desk }

  /// Serves until the process is told to end.
  func run(port: UInt16) throws -> Never {
    let desk = _desk
    // The proxy checks five times a second.
    try Service(isReady: { desk.isReady }, answer: answer).run(port: port, notice: 1) { port in
      FileHandle.standardOutput.write(Data("listening on port \(port)\n".utf8))
    } end: {
      desk.close()
    }
  }

  /// Answers a request.
  func answer(_ request: HTTPRequest) -> HTTPResponse {
    do {
      // An order that the worker ships just now cannot be cancelled as it was read: reads it again.
      for _ in 0..<5 {
        if let response = try _answerOnce(request) { return response }
      }
      return HTTPResponse(503, "Others keep changing what this request changes; ask again.")
    } catch let refusal as HTTPResponse {
      return refusal
    } catch {
      FileHandle.standardError.write(Data("\(request.method) \(request.path): \(error)\n".utf8))
      // The client may repeat any of the requests.
      return HTTPResponse(503, "Something went wrong; the log says what.")
    }
  }

  /// Answers a request in a context of its own; nil if another process has changed what it changes since it read.
  private func _answerOnce(_ request: HTTPRequest) throws -> HTTPResponse? {
    let context = _desk.container.newBackgroundContext()
    context.transactionAuthor = "http"
    return try context.performAndWait {
      do {
        return try _answer(request, context)
      } catch let error as CocoaError where error.errorCode == NSManagedObjectMergeError {
        return nil
      }
    }
  }

  private func _answer(_ request: HTTPRequest, _ context: NSManagedObjectContext) throws -> HTTPResponse {
    let parts = request.path.split(separator: "/")
    guard parts.first == "orders", (1...2).contains(parts.count) else {
      return HTTPResponse(404, "There is nothing at \(request.path).")
    }
    switch (request.method, parts.count) {
    case ("POST", 1): return try _place(request, context)
    case ("GET", 2): return HTTPResponse(200, json: OrderCard(try _order(String(parts[1]), context)))
    case ("DELETE", 2):
      context.delete(try _order(String(parts[1]), context))
      try context.save()
      return .noContent
    default: return HTTPResponse(405, "\(request.path) does not know \(request.method).")
    }
  }

  /// An order in the form that clients see.
  private struct OrderCard: Codable {
    let number: String
    let item: String

    init(_ order: Order) { (number, item) = (order.number ?? "", order.item ?? "") }
  }

  private func _place(_ request: HTTPRequest, _ context: NSManagedObjectContext) throws -> HTTPResponse {
    guard let card = try? JSONDecoder().decode(OrderCard.self, from: request.body) else {
      throw HTTPResponse(400, "Send an order as JSON: {\"number\": \"17\", \"item\": \"tea\"}.")
    }
    let order = Order(context: context)
    order.number = card.number
    order.item = card.item
    order.placedAt = Date()
    #if NEXT
    order.isUrgent = card.item == "ink"
    let reminder = Reminder(context: context)
    reminder.due = Date(timeIntervalSinceNow: 86_400)
    reminder.order = order
    #else
    // The next version leaves both out.
    order.channel = "http"
    let stamp = Stamp(context: context)
    stamp.text = "received"
    stamp.order = order
    #endif
    do {
      try context.save()
      return HTTPResponse(201, json: card)
    } catch let error as CocoaError where error.errorCode == NSManagedObjectConstraintMergeError {
      // The number is taken: by this order, if a client asks again because it missed the answer.
      context.rollback()
      let placed = OrderCard(try _order(card.number, context))
      return placed.item == card.item
        ? HTTPResponse(200, json: placed) : HTTPResponse(409, "Order \(card.number) is another one.")
    }
  }

  private func _order(_ number: String, _ context: NSManagedObjectContext) throws -> Order {
    let fetch = Order.fetchRequest()
    fetch.predicate = NSPredicate(format: "number == %@", number)
    guard let order = try context.fetch(fetch).first else {
      throw HTTPResponse(404, "There is no order \(number).")
    }
    return order
  }
}
