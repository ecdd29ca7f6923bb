import Foundation
import MainThreadWatch
import Testing

@testable import CoreDataStackShootout

@Suite("Figures from measurements")
struct MeasurementTests {
  @Test(arguments: [([], 0), ([3], 3), ([5, 1, 3], 3), ([4, 1, 3, 2], 2.5)] as [([Double], Double)])
  func `The median is the middle, or the mean of two`(values: [Double], expected: Double) {
    #expect(Statistics.median(values) == expected)
  }

  @Test func `A percentile is a value that occurred`() {
    let values = (1...100).map(Double.init).shuffled()
    #expect(Statistics.percentile(0.5, values) == 50)
    #expect(Statistics.percentile(0.99, values) == 99)
    #expect(Statistics.percentile(1, values) == 100)
    #expect(Statistics.percentile(0, values) == 1)
    #expect(Statistics.percentile(0.5, []) == 0)
  }

  @Test func `A frame counts as dropped if it passes inside a block`() {
    let frame = Heartbeat.period
    let long = [15 * frame - 1].map { TimeSpan(begin: 0, end: $0) }
    #expect(
      MainThreadFigures(spans: long, blocks: long, processorNanoseconds: 0, latencies: []).framesDropped == 14
    )
    let spans = [frame, frame + 1, 5].map { TimeSpan(begin: 100, end: 100 + $0) }
    let figures = MainThreadFigures(
      spans: spans, blocks: spans, processorNanoseconds: 2_000_000_000, latencies: [1_000_000, 3_000_000])
    #expect(figures.framesDropped == 1)
    #expect(figures.longestMilliseconds == Double(frame + 1) / 1e6)
    #expect(figures.busySeconds == Double(2 * frame + 6) / 1e9)
    #expect(figures.processorSeconds == 2)
    #expect(figures.heartbeat == HeartbeatFigures(p50: 1, p99: 3, max: 3))
  }

  @Test func `Blocks and the rests between them split the waking time`() {
    func span(_ begin: UInt64, _ end: UInt64) -> TimeSpan { TimeSpan(begin: begin, end: end) }
    let pieces = MainThreadRecorder.pieces(
      of: [span(0, 100), span(200, 300)],
      cutBy: [span(20, 30), span(10, 40), span(40, 60), span(190, 250), span(400, 500)])
    #expect(
      pieces == [span(0, 10), span(10, 40), span(40, 60), span(60, 100), span(200, 250), span(250, 300)])
    #expect(MainThreadRecorder.pieces(of: [span(0, 9)], cutBy: []) == [span(0, 9)])
  }

  @Test func `What happened outside the import is cut off`() {
    let window = TimeSpan(begin: 100, end: 200)
    #expect(TimeSpan(begin: 50, end: 150).clipped(to: window) == TimeSpan(begin: 100, end: 150))
    #expect(TimeSpan(begin: 150, end: 250).clipped(to: window) == TimeSpan(begin: 150, end: 200))
    #expect(TimeSpan(begin: 200, end: 250).clipped(to: window) == nil)
  }

  @Test func `Samples are averaged over few parts`() {
    let samples = (0..<1000).map { number in
      LoadSampler.Sample(
        span: TimeSpan(begin: UInt64(number) * 10, end: UInt64(number) * 10 + 10), main: 0,
        background: number < 500 ? 10 : 20)
    }
    let timeline = Timeline(
      window: TimeSpan(begin: 0, end: 10_000), spans: [], samples: samples, saves: [5_000], parts: 10)
    #expect(timeline.background.count == 10)
    #expect(timeline.background.first?.processors == 1)
    #expect(timeline.background.last?.processors == 2)
    #expect(timeline.saves == [5e-6])
  }

  @Test func `The peak is read from the kernel's account`() {
    #expect(PeakMemory.megabytes(fromStatus: "VmPeak:\t  9 kB\nVmHWM:\t   2000 kB\n") == 2.048)
    #expect(PeakMemory.megabytes(fromStatus: "nothing") == nil)
    #expect(PeakMemory.megabytes > 1)
  }

  @Test func `a watch sees what a block of main keeps others from`() async throws {
    let watch = await MainThreadWatch.start()
    try await Task.sleep(for: .milliseconds(80))
    await MainActor.run { _ = usleep(60_000) }
    try await Task.sleep(for: .milliseconds(20))
    let figures = await watch.stop()
    #expect(figures.longestMilliseconds >= 50 && figures.busySeconds >= 0.05)
    #expect(figures.framesDropped >= 2 && figures.heartbeat.max >= 30)
    #expect("\(figures)".hasPrefix("main thread: busy for "))
  }
}
