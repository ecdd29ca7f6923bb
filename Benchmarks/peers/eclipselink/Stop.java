import java.time.Instant;
import javax.persistence.Column;
import javax.persistence.Convert;
import javax.persistence.Entity;
import javax.persistence.FetchType;
import javax.persistence.GeneratedValue;
import javax.persistence.GenerationType;
import javax.persistence.Id;
import javax.persistence.JoinColumn;
import javax.persistence.ManyToOne;
import javax.persistence.Table;
import javax.persistence.TableGenerator;

/** A stop of the workload. */
@Entity
@Table(name = "stop")
public class Stop {
  @Id
  @TableGenerator(name = "keys", table = "keys", pkColumnName = "name", valueColumnName = "last", allocationSize = 1000)
  @GeneratedValue(strategy = GenerationType.TABLE, generator = "keys")
  long id;
  String identifier;
  String name;
  double latitude;
  double longitude;
  long code;
  @Convert(converter = Seconds.class) @Column(name = "createdAt") Instant createdAt;
  boolean active;
  String note;
  @ManyToOne(fetch = FetchType.LAZY) @JoinColumn(name = "routeId") Route route;

  void take(Records.Stop record, java.util.List<Route> routes) {
    identifier = record.identifier();
    name = record.name();
    latitude = record.latitude();
    longitude = record.longitude();
    code = record.code();
    createdAt = record.createdAt();
    active = record.active();
    note = record.note();
    route = routes.get(record.route());
  }

  // Here, because a change is noticed only if a method of the class makes it.
  void update() {
    name = "upd " + name;
    code += 1;
  }

  long checksum() { return code + name.length() + (note == null ? 0 : note.length()); }
}
