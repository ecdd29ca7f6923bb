struct StackRun {
  let job: WorkerJob
  let design: StackDesign
  let progress: @Sendable (Int) -> Void
  func measure() throws -> RunMeasurement { throw StoreCheck.Failure(description: "engine is not there") }
}
