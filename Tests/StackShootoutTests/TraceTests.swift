import CoreData
import CoreDataModelSchema
import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStackShootout

/// Recordings of what a program's contexts do: how they are read, and what is told of them.
@Suite struct TraceTests {
  private let _scratch: ScratchDirectory

  init() throws { _scratch = try ScratchDirectory() }

  static let head =
    #"{"kind":"recording","version":1,"program":"App","process":7,"values":false,"begin":1000.5,"processors":2}"#

  static let lines = """
    {"kind":"request","request":1,"entity":"Order","result":"objects","where":"number == ?","sort":["-placed"],"limit":5}
    {"kind":"request","request":2,"entity":"Order","result":"objects"}
    {"t":0.0,"ms":0,"thread":0,"context":1,"kind":"context","role":"main"}
    {"t":0.0,"ms":0,"thread":1,"context":2,"kind":"context","role":"private","parent":1}
    {"t":0.5,"ms":30,"thread":0,"context":1,"kind":"fetch","request":2,"found":200,"ids":["Order/p1","Order/p2"]}
    {"t":0.6,"ms":1,"thread":0,"context":1,"kind":"fault","id":"Customer/p1","rows":1}
    {"t":0.61,"ms":1,"thread":0,"context":1,"kind":"fault","id":"Customer/p2","rows":1}
    {"t":0.62,"ms":1,"thread":0,"context":1,"kind":"fault","id":"Customer/p3","rows":1}
    {"t":0.63,"ms":1,"thread":0,"context":1,"kind":"fault","id":"Customer/p4","rows":1}
    {"t":0.64,"ms":1,"thread":0,"context":1,"kind":"fault","id":"Customer/p5","rows":1}
    {"t":0.65,"ms":2,"thread":0,"context":1,"kind":"fault","id":"Order/p9","rows":20}
    {"t":0.3,"ms":4,"thread":1,"context":2,"kind":"save","store":false,"objects":2,"changes":[{"insert":"Order/t1","keys":["number"]},{"delete":"Order/p4"}]}
    {"t":0.7,"ms":9,"thread":0,"context":1,"kind":"save","store":true,"named":{"Order/t1":"Order/p300"}}
    {"t":0.8,"ms":40,"thread":0,"context":1,"kind":"merge","objects":1}
    {"t":0.9,"ms":0.5,"thread":1,"context":2,"kind":"count","request":1,"found":3}
    {"kind":"dropped","thread":1,"events":4}
    """

  private func _file(_ name: String, _ text: String) throws -> String {
    let path = _scratch.file(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func _trace(_ extra: String = "") throws -> Trace {
    try TraceReader.read([try _file("trace.ndjson", Self.head + "\n" + Self.lines + "\n" + extra)])
  }

  // MARK: Reading

  @Test func `events come by time, with their contexts and requests`() throws {
    let trace = try _trace()
    #expect(trace.programs == ["App (7)"] && trace.dropped == 4 && !trace.hasValues)
    #expect(trace.events.map(\.end) == trace.events.map(\.end).sorted())
    #expect(trace.contexts.count == 2)
    let child = Trace.ContextID(process: 0, number: 2)
    #expect(trace.contexts[child]?.parent == Trace.ContextID(process: 0, number: 1))
    #expect(trace.formerNames == ["Order/p300": "Order/t1"])
    guard case .save(let changes, 2, let toStore, _) = trace.events[0].kind else {
      Issue.record("the first event is the save")
      return
    }
    #expect(changes.map(\.kind) == [.insert, .delete] && changes[0].keys == ["number"] && !toStore)
  }

  @Test func `recordings of several processes are one, by time`() throws {
    let later = Self.head.replacing("1000.5", with: "1000.75").replacing(
      "\"process\":7", with: "\"process\":8")
    let one = try _file("one.ndjson", Self.head + "\n" + Self.lines)
    let other = try _file("other.ndjson", later + "\n" + Self.lines)
    let trace = try TraceReader.read([one, other])
    #expect(trace.programs == ["App (7)", "App (8)"] && trace.contexts.count == 4)
    #expect(trace.events.map { $0.context.process }.prefix(3) == [0, 0, 1])
  }

  @Test func `the last line of a program that was killed is left out`() throws {
    #expect(try _trace(#"{"t":1.0,"ms":0.5,"thr"#).events.count == (try _trace()).events.count)
  }

  @Test(arguments: [
    ("", "is empty"),
    ("{\"kind\":\"fetch\"}\n", "is no recording, which a program writes that runs with COREDATA_RECORD=FILE"),
    (Self.head.replacing("\"version\":1", with: "\"version\":2") + "\n", "is of another version"),
    (Self.head + "\nnonsense\n" + Self.head, "trace.ndjson:2: this is no line of a recording"),
    (Self.head + "\n{\"kind\":\"fetch\",\"request\":9}\n", "trace.ndjson:2: the recording is damaged here"),
    (Self.head + "\n{\"kind\":\"dance\"}\n", "trace.ndjson:2: the recording is damaged here"),
  ])
  func `what is no recording is answered with its place`(_ text: String, _ message: String) throws {
    let path = try _file("trace.ndjson", text)
    let failure = #expect(throws: ToolFailure.self) { try TraceReader.read([path]) }
    #expect(failure?.message.contains(message) == true, "\(failure?.message ?? "")")
  }

  // MARK: What is told

  @Test func `main's time, faults one by one, saves and merges are summed`() throws {
    let summary = TraceSummary(try _trace())
    #expect(summary.events == 11 && abs(summary.main.milliseconds - 86) < 0.001 && summary.main.worst == 40)
    #expect(summary.fetches.map(\.count) == [1, 1] && summary.fetches[0].most == 200)
    #expect(summary.faults.count == 1)
    #expect(summary.faults[0].0 == TraceSummary.Faults(fetched: "Order", read: "Customer", isToMany: false))
    #expect(summary.faults[0].1.count == 5, "a page that is read along is none of them")
    #expect(summary.storesOnMain.count == 1 && summary.savesElsewhere.objects == 2)
    #expect(summary.mergesOnMain.worst == 40)
  }

  @Test func `the relationship that would be prefetched is named where the model is known`() throws {
    let summary = TraceSummary(try _trace())
    let layout = try ModelLayout(ModelSchema(RecordShop.model()))
    let known = TraceAdvice(summary, layout).sentences
    #expect(
      known.contains {
        $0.hasPrefix(
          "After a fetch of Order, Customer objects are read one by one (5 times, 5.00 ms): prefetch")
          && $0.contains("\"customer\"")
      }, "\(known)")
    #expect(
      TraceAdvice(summary, nil).sentences.contains {
        $0.contains("prefetch the relationship that leads there")
      })
    #expect(known.contains { $0.hasPrefix("Main writes to a store 1 time, for up to 9.00 ms") })
    #expect(known.contains { $0.hasPrefix("A merge keeps main for 40.0 ms") })
    #expect(known.contains { $0.hasPrefix("Main fetches up to 200 objects of Order at once") })
  }

  @Test func `a slow fetch beside main asks for nothing`() throws {
    let lines =
      #"{"kind":"request","request":3,"entity":"Customer","result":"objects"}"# + "\n"
      + #"{"t":2,"ms":90,"thread":1,"context":2,"kind":"fetch","request":3,"found":900}"# + "\n"
    let told = TraceAdvice(TraceSummary(try _trace(lines)), nil).sentences
    #expect(!told.contains { $0.contains("of Customer at once") }, "\(told)")
  }

  @Test func `to-manys read one by one and fetches in a row are told`() throws {
    var lines = ""
    for number in 0..<12 {
      lines +=
        #"{"t":\#(2 + Double(number) / 100),"ms":1,"thread":1,"context":2,"kind":"fetch","request":1,"found":1}"#
        + "\n"
    }
    for number in 0..<6 {
      lines +=
        #"{"t":\#(3 + Double(number) / 100),"ms":1,"thread":1,"context":2,"kind":"members","id":"Order/p\#(number)","relationship":"lines","found":2}"#
        + "\n"
    }
    let told = TraceAdvice(TraceSummary(try _trace(lines)), nil).sentences
    #expect(
      told.contains { $0.hasPrefix("Order WHERE number == ? is fetched up to 12 times in a row") }, "\(told)")
    #expect(told.contains { $0.hasPrefix("'lines' of Order is read object by object (6 times, 6.00 ms)") })
  }

  @Test func `spoiled recordings are read or refused`() throws {
    var random = SeededRandom(seed: 41)
    let text = Array((Self.head + "\n" + Self.lines + "\n").utf8)
    for _ in 0..<400 {
      var spoiled = text
      for _ in 0...random.below(4) {
        let place = random.below(spoiled.count)
        switch random.below(3) {
        case 0: spoiled[place] = UInt8(0x20 + random.below(0x5F))
        case 1: spoiled.remove(at: place)
        default: spoiled.insert(contentsOf: Array("9e999".utf8), at: place)
        }
      }
      let path = _scratch.file("spoiled.ndjson")
      try Data(spoiled).write(to: URL(fileURLWithPath: path))
      do {
        let trace = try TraceReader.read([path])
        _ = TraceAdvice(TraceSummary(trace), nil)
        _ = TraceDrawing(trace).svg.text
        _ = ReplayPlan(trace)
      } catch is ToolFailure {}
    }
  }

  @Test func `requests that are no fetches are told by their class, and not replayed`() throws {
    let batch = #"{"t":1.5,"ms":7,"thread":1,"context":2,"kind":"execute","request":"NSBatchDeleteRequest"}"#
    let trace = try _trace(batch)
    #expect(TraceSummary(trace).executed["NSBatchDeleteRequest"]?.milliseconds == 7)
    #expect(
      ReplayPlan(trace).leftOut == ["requests of NSBatchDeleteRequest, of which only the time is recorded": 1]
    )
    #expect(ReplayPlan(trace).count == ReplayPlan(try _trace()).count)
  }

  @Test func `a save after a rollback has nothing to write`() throws {
    let change =
      #"{"t":1.1,"ms":0,"thread":1,"context":2,"kind":"changes","changes":[{"insert":"Order/t25","keys":[]}]}"#
    let back = #"{"t":1.2,"ms":0,"thread":1,"context":2,"kind":"rollback"}"#
    let save = #"{"t":1.3,"ms":1,"thread":1,"context":2,"kind":"save","store":false,"objects":0}"#
    let plan = ReplayPlan(try _trace([change, back, save].joined(separator: "\n")))
    #expect(plan.steps.count == ReplayPlan(try _trace()).steps.count + 2 && plan.leftOut.isEmpty)
  }

  // MARK: Lanes

  @Test func `each context has a lane, whose steps follow what had ended`() throws {
    let plan = ReplayPlan(try _trace())
    let lanes = plan.lanes.map { lane in
      plan.steps.count { plan.lanes[$0.lane] == lane }
    }
    let isMain = plan.lanes.map(\.isMain)
    #expect(
      zip(isMain, lanes).allSatisfy { $0 ? $1 == 7 : $1 == 2 } && lanes.count == 2,
      "merges and saves that only hand up are the design's: \(lanes)")
    for step in plan.steps {
      let before = plan.steps.filter { $0.event.end <= step.event.begin }
      #expect(step.after == before.count && before.allSatisfy { $0.rank < step.after })
      #expect(step.isLastOfLane == !plan.steps.contains { $0.lane == step.lane && $0.rank > step.rank })
    }
  }

  @Test func `what a save has announced while it ran comes before it`() throws {
    let changes =
      #"{"t":1.15,"ms":0,"thread":1,"context":2,"kind":"changes","changes":[{"insert":"Order/t25","keys":[]}]}"#
    let save = #"{"t":1.1,"ms":100,"thread":1,"context":2,"kind":"save","store":true,"objects":1}"#
    let plan = ReplayPlan(try _trace(changes + "\n" + save))
    guard case .changes = plan.steps[plan.steps.count - 2].event.kind,
      case .save = plan.steps.last?.event.kind
    else {
      Issue.record("the save is not last: \(plan.steps.suffix(2))")
      return
    }
  }

  @Test func `two processes' unsaved objects of one name are two`() throws {
    let lines =
      #"{"t":1.1,"ms":0,"thread":1,"context":2,"kind":"changes","changes":[{"insert":"Order/t25","keys":[]}]}"#
      + "\n"
      + #"{"t":1.2,"ms":1,"thread":1,"context":2,"kind":"save","store":true,"objects":1,"named":{"Order/t25":"Order/pNUMBER"}}"#
      + "\n" + #"{"t":1.3,"ms":1,"thread":1,"context":2,"kind":"fault","id":"Order/pNUMBER","rows":1}"#
    let paths = try [700, 701].map { number in
      let path = _scratch.file("process-\(number).ndjson")
      let text = Self.head + "\n" + lines.replacing("NUMBER", with: "\(number)") + "\n"
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      return path
    }
    let names = ReplayPlan(try TraceReader.read(paths)).steps.compactMap { step -> String? in
      if case .fault(let name, _) = step.event.kind { name } else { nil }
    }
    #expect(names.count == 2 && Set(names).count == 2, "\(names)")
  }

  @Test func `an object that was inserted keeps its first name`() throws {
    let fault = #"{"t":1.2,"ms":1,"thread":0,"context":1,"kind":"fault","id":"Order/p300","rows":1}"#
    let plan = ReplayPlan(try _trace(fault))
    guard case .fault(let name, _) = plan.steps.last?.event.kind else {
      Issue.record("the last event is the fault")
      return
    }
    #expect(name == "Order/t1" && plan.wanted == ["Order/t1"])
  }
}
