import Testing

@testable import SwiftDataExpansion

@Suite struct ModelActorExpansionTests {
  private func _expand(_ declaration: String, _ role: String = "member") -> String {
    MacroHarness.attached(
      "ModelActorMacro", role, to: declaration, attribute: "@ModelActor", missing: "ModelActor",
      extending: "Importer"
    ).source ?? ""
  }

  @Test func `An actor gets a context of its own`() {
    #expect(
      _expand("@ModelActor\nactor Importer {\n  func run() { }\n}") == """
        nonisolated let modelExecutor: any SwiftData.ModelExecutor

        nonisolated let modelContainer: SwiftData.ModelContainer

        init(modelContainer: SwiftData.ModelContainer) {
          let modelContext = SwiftData.ModelContext(modelContainer)
          self.modelExecutor = SwiftData.DefaultSerialModelExecutor(modelContext: modelContext)
          self.modelContainer = modelContainer
        }
        """)
    #expect(
      _expand("@ModelActor actor Importer { }", "extension")
        == "extension Importer: SwiftData.ModelActor {\n}")
  }

  @Test func `A public actor has public members`() {
    let source = _expand("@ModelActor public actor Importer { }")
    #expect(source.contains("public nonisolated let modelExecutor"))
    #expect(source.contains("public init(modelContainer:"))
  }

  @Test func `An own initialiser of the same form stays`() {
    #expect(
      !_expand("@ModelActor actor Importer { init(modelContainer: ModelContainer) { } }").contains("init("))
  }

  @Test func `An actor with more to set sets it itself`() {
    let source = _expand("@ModelActor actor Importer { let name: String; init(name: String) { } }")
    #expect(!source.contains("init("))
    #expect(source.contains("let modelExecutor"))
  }

  @Test func `An own property stays`() {
    let source = _expand(
      "@ModelActor actor Importer { nonisolated let modelContainer: ModelContainer; init(c: Int) { } }")
    #expect(!source.contains("let modelContainer"))
    #expect(source.contains("let modelExecutor"))
  }
}
