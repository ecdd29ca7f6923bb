/// A reference that keeps nothing alive.
struct WeakReference<Object: AnyObject> {
  private(set) weak var object: Object?

  init(_ object: Object?) { self.object = object }
}
