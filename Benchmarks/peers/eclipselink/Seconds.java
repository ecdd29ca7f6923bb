import java.time.Instant;
import javax.persistence.AttributeConverter;
import javax.persistence.Converter;

/** A date, kept as seconds since 1970. */
@Converter
public class Seconds implements AttributeConverter<Instant, Double> {
  public Double convertToDatabaseColumn(Instant date) {
    return date == null ? null : date.getEpochSecond() + date.getNano() / 1e9;
  }

  public Instant convertToEntityAttribute(Double seconds) {
    if (seconds == null) return null;
    long whole = (long) Math.floor(seconds);
    return Instant.ofEpochSecond(whole, Math.round((seconds - whole) * 1e9));
  }
}
