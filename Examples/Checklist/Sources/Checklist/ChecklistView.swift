#if canImport(SwiftUI)
import CoreData
import SwiftUI

/// The list in an app; give it `ChecklistStore.viewContext` as the managed object context of its environment.
public struct ChecklistView: View {
  @FetchRequest(fetchRequest: ChecklistStore.all) private var items: FetchedResults<Item>

  public init() {}

  public var body: some View {
    List(items) { item in
      Label(item.text, systemImage: item.done == nil ? "circle" : "checkmark.circle")
    }
  }
}
#endif
