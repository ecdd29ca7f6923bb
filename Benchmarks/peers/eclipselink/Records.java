import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** The workload's stops and questions, as Sources/Benchmark/Workload makes them. */
final class Records {
  static final int ROUTES = 150;

  record Stop(
      String identifier, String name, double latitude, double longitude, long code, Instant createdAt, boolean active,
      String note, int route) {}

  record Question(long low, String initial) {}

  /** SplitMix64. */
  static final class Numbers {
    private long state;

    Numbers(long seed) { state = seed; }

    long next() {
      state += 0x9E3779B97F4A7C15L;
      long z = state;
      z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
      z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
      return z ^ (z >>> 31);
    }
  }

  private final Numbers numbers;
  private final double shift;

  Records(long seed, double shift) {
    numbers = new Numbers(seed);
    this.shift = shift;
  }

  private static double unit(long draw) { return (draw >>> 11) * 0x1p-53; }

  List<Stop> next(int count) {
    List<Stop> stops = new ArrayList<>(count);
    for (int index = 0; index < count; index++) {
      long a = numbers.next(), b = numbers.next(), c = numbers.next(), d = numbers.next(), e = numbers.next();
      long f = numbers.next(), g = numbers.next(), h = numbers.next(), i = numbers.next();
      char[] name = new char[16];
      for (int k = 0; k < 16; k++) name[k] = (char) ('A' + ((b >>> (4 * k)) & 15));
      stops.add(new Stop(
          String.format("S%016x", a), new String(name), -90 + unit(c) * 180 + shift, -180 + unit(d) * 360,
          Long.remainderUnsigned(e, 1_000_000),
          Instant.ofEpochSecond(1_600_000_000 + Long.remainderUnsigned(f, 100_000_000)), (g & 1) == 1,
          Long.remainderUnsigned(h, 10) < 3 ? null : String.format("note %016x", h),
          (int) Long.remainderUnsigned(i, ROUTES)));
    }
    return stops;
  }

  static List<Question> questions() {
    Numbers numbers = new Numbers(7);
    List<Question> questions = new ArrayList<>();
    for (int index = 0; index < 1000; index++) {
      long low = Long.remainderUnsigned(numbers.next(), 800_000);
      questions.add(new Question(low, String.valueOf((char) ('A' + Long.remainderUnsigned(numbers.next(), 16)))));
    }
    return questions;
  }

  static List<Long> permutation(int count, long seed) {
    List<Long> result = new ArrayList<>();
    for (long number = 1; number <= count; number++) result.add(number);
    Numbers numbers = new Numbers(seed);
    for (int index = count - 1; index > 0; index--) {
      java.util.Collections.swap(result, index, (int) Long.remainderUnsigned(numbers.next(), index + 1));
    }
    return result;
  }
}
