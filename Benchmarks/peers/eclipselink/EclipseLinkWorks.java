import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import javax.persistence.EntityManager;
import javax.persistence.EntityManagerFactory;
import javax.persistence.Persistence;

/**
 * The workload through EclipseLink: one work, in this process; what it took and found as JSON on standard output.
 *
 * Arguments: WORK OBJECTS DIRECTORY, or 'works', which lists the works.
 */
public final class EclipseLinkWorks {
  private static final String WORKS =
      "import-bulk,find-or-create,import-insert,reimport,fetch-all,fetch-page,by-id,traverse,update,delete,count,concurrent";

  private long nanoseconds;
  private long rows;
  private long sum;
  private final String work;
  private final int count;

  private EclipseLinkWorks(String work, int count) {
    this.work = work;
    this.count = count;
  }

  public static void main(String[] words) throws Exception {
    if (words[0].equals("works")) {
      System.out.println(WORKS);
      return;
    }
    int count = Integer.parseInt(words[1]);
    Path template = Path.of(words[2], "eclipselink-template-" + count + ".sqlite");
    if (!Files.exists(template)) {
      create(template);
      new EclipseLinkWorks("import-insert", count).measure(template);
    }
    EclipseLinkWorks measured = null;
    Path path = null;
    // Once to warm up.
    for (int round = 0; round < 2; round++) {
      path = Path.of(words[2], "eclipselink-" + words[0] + "-" + round + ".sqlite");
      for (String suffix : List.of("", "-wal", "-shm")) Files.deleteIfExists(Path.of(path + suffix));
      if (words[0].startsWith("import") || words[0].equals("find-or-create")) {
        create(path);
      } else {
        Files.copy(template, path, StandardCopyOption.REPLACE_EXISTING);
      }
      measured = new EclipseLinkWorks(words[0], count);
      measured.measure(path);
    }
    System.out.printf(
        "{\"seconds\": %.6f, \"peak_mb\": %.1f, \"rows\": %d, \"sum\": %d, \"file\": \"%s\", \"version\": \"%s\"}%n",
        measured.nanoseconds / 1e9, peakMegabytes(), measured.rows, measured.sum, path,
        org.eclipse.persistence.Version.getVersion());
  }

  private static void create(Path path) throws Exception {
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + path); Statement statement = connection.createStatement()) {
      for (String sql : List.of(
          "PRAGMA journal_mode=WAL",
          "CREATE TABLE route(id INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, name TEXT NOT NULL)",
          "CREATE TABLE stop(id INTEGER PRIMARY KEY, identifier TEXT NOT NULL, name TEXT NOT NULL, latitude REAL NOT NULL, "
              + "longitude REAL NOT NULL, code INTEGER NOT NULL, createdAt REAL NOT NULL, active INTEGER NOT NULL, note TEXT, "
              + "routeId INTEGER)",
          "CREATE UNIQUE INDEX stop_identifier ON stop(identifier)",
          "CREATE INDEX stop_route ON stop(routeId)",
          "CREATE INDEX stop_code ON stop(code)",
          "CREATE TABLE keys(name TEXT PRIMARY KEY, last INTEGER)",
          "INSERT INTO keys VALUES('keys', 0)")) {
        statement.execute(sql);
      }
      for (int route = 0; route < Records.ROUTES; route++) {
        statement.execute(String.format("INSERT INTO route VALUES(%d, 'R%03d', 'Route %d')", route + 1, route, route));
      }
    }
  }

  private void measure(Path path) {
    EntityManagerFactory factory = Persistence.createEntityManagerFactory(
        "stops", Map.of("javax.persistence.jdbc.url", "jdbc:sqlite:" + path + "?journal_mode=WAL&synchronous=NORMAL"));
    factory.createEntityManager().close();
    switch (work) {
      case "import-bulk" -> imports(factory, 1000, true, 42, 0);
      case "import-insert" -> imports(factory, 1000, false, 42, 0);
      case "reimport" -> imports(factory, 1000, true, 42, 0.001);
      case "find-or-create" -> findOrCreate(factory);
      case "fetch-all" -> timed(factory, manager -> manager.createQuery("SELECT s FROM Stop s ORDER BY s.name", Stop.class)
          .getResultList().forEach(this::add));
      case "fetch-page" -> {
        long begin = System.nanoTime();
        for (Records.Question question : Records.questions()) page(factory, question).forEach(this::add);
        nanoseconds += System.nanoTime() - begin;
      }
      case "by-id" -> timed(factory, manager -> Records.permutation(count, 11).stream().limit(15_000)
          .forEach(id -> add(manager.find(Stop.class, id))));
      case "traverse" -> timed(factory, manager -> manager.createQuery("SELECT r FROM Route r ORDER BY r.id", Route.class)
          .getResultList().forEach(route -> route.stops.forEach(this::add)));
      case "count" -> timed(factory, manager -> {
        for (Records.Question question : Records.questions()) {
          rows += 1;
          sum += manager.createQuery(
                  "SELECT COUNT(s) FROM Stop s WHERE s.code BETWEEN :low AND :high AND s.name LIKE :name", Long.class)
              .setParameter("low", question.low()).setParameter("high", question.low() + 200_000)
              .setParameter("name", question.initial() + "%").getSingleResult();
        }
      });
      case "update", "delete" -> change(factory);
      case "concurrent" -> concurrently(factory);
      default -> throw new IllegalArgumentException("There is no work '" + work + "'; there are " + WORKS + ".");
    }
    factory.close();
  }

  private void add(Stop stop) {
    rows += 1;
    sum += stop.checksum();
  }

  private void timed(EntityManagerFactory factory, Consumer<EntityManager> body) {
    EntityManager manager = factory.createEntityManager();
    long begin = System.nanoTime();
    body.accept(manager);
    nanoseconds += System.nanoTime() - begin;
    manager.close();
  }

  private void imports(EntityManagerFactory factory, int batch, boolean finds, long seed, double shift) {
    Records records = new Records(seed, shift);
    for (int done = 0; done < count; done += batch) {
      List<Records.Stop> chunk = records.next(Math.min(batch, count - done));
      timed(factory, manager -> {
        manager.getTransaction().begin();
        List<Route> routes = routes(manager);
        Map<String, Stop> known = new HashMap<>();
        if (finds) {
          manager.createQuery("SELECT s FROM Stop s WHERE s.identifier IN :names", Stop.class)
              .setParameter("names", chunk.stream().map(Records.Stop::identifier).toList()).getResultList()
              .forEach(stop -> known.put(stop.identifier, stop));
        }
        for (Records.Stop record : chunk) {
          Stop stop = known.get(record.identifier());
          boolean isNew = stop == null;
          if (isNew) stop = new Stop();
          stop.take(record, routes);
          if (isNew) manager.persist(stop);
        }
        manager.getTransaction().commit();
      });
    }
  }

  private void findOrCreate(EntityManagerFactory factory) {
    Records records = new Records(42, 0);
    for (int done = 0; done < count; done += 250) {
      List<Records.Stop> chunk = records.next(Math.min(250, count - done));
      // A manager for each save: one that has seen all stops compares them all before each query.
      EntityManager manager = factory.createEntityManager();
      List<Route> routes = routes(manager);
      long begin = System.nanoTime();
      manager.getTransaction().begin();
      for (Records.Stop record : chunk) {
        List<Stop> found = manager.createQuery("SELECT s FROM Stop s WHERE s.identifier = :name", Stop.class)
            .setParameter("name", record.identifier()).setMaxResults(1).getResultList();
        Stop stop = found.isEmpty() ? new Stop() : found.get(0);
        stop.take(record, routes);
        if (found.isEmpty()) manager.persist(stop);
      }
      manager.getTransaction().commit();
      nanoseconds += System.nanoTime() - begin;
      manager.close();
    }
  }

  private static List<Route> routes(EntityManager manager) {
    return manager.createQuery("SELECT r FROM Route r ORDER BY r.id", Route.class).getResultList();
  }

  private static List<Stop> page(EntityManagerFactory factory, Records.Question question) {
    EntityManager manager = factory.createEntityManager();
    List<Stop> stops = manager.createQuery(
            "SELECT s FROM Stop s WHERE s.code BETWEEN :low AND :high AND s.name LIKE :name ORDER BY s.name", Stop.class)
        .setParameter("low", question.low()).setParameter("high", question.low() + 200_000)
        .setParameter("name", question.initial() + "%").setMaxResults(50).getResultList();
    manager.close();
    return stops;
  }

  private void change(EntityManagerFactory factory) {
    List<Long> ids = Records.permutation(count, 13).subList(work.equals("update") ? 0 : 1500, work.equals("update") ? 1500 : 3000);
    timed(factory, manager -> {
      manager.getTransaction().begin();
      for (Stop stop : manager.createQuery("SELECT s FROM Stop s WHERE s.id IN :ids", Stop.class).setParameter("ids", ids).getResultList()) {
        if (work.equals("delete")) {
          manager.remove(stop);
        } else {
          stop.update();
        }
      }
      manager.getTransaction().commit();
    });
    EntityManager manager = factory.createEntityManager();
    rows = ids.size();
    sum = ((Number) manager.createNativeQuery("SELECT SUM(code) + SUM(length(name)) + COUNT(*) FROM stop").getSingleResult()).longValue();
    manager.close();
  }

  private void concurrently(EntityManagerFactory factory) {
    AtomicBoolean isOver = new AtomicBoolean();
    Thread reader = new Thread(() -> {
      while (!isOver.get()) {
        for (Records.Question question : Records.questions()) {
          page(factory, question);
          if (isOver.get()) break;
        }
      }
    });
    reader.start();
    long begin = System.nanoTime();
    imports(factory, 100, true, 43, 0);
    nanoseconds = System.nanoTime() - begin;
    isOver.set(true);
    try {
      reader.join();
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
  }

  private static double peakMegabytes() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmHWM:")) return Long.parseLong(line.replaceAll("\\D", "")) * 1024 / 1e6;
    }
    return 0;
  }
}
