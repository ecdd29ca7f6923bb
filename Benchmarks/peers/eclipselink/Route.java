import java.util.List;
import javax.persistence.Entity;
import javax.persistence.Id;
import javax.persistence.OneToMany;
import javax.persistence.Table;

/** A route of the workload with its stops. */
@Entity
@Table(name = "route")
public class Route {
  @Id long id;
  String identifier;
  String name;
  @OneToMany(mappedBy = "route") List<Stop> stops;
}
