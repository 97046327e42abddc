#include <fmt/format.h>

#include "app/words.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "bench/seen/seen.h"

namespace kin::bench {
namespace {

// The memory that a set may use whatever its size: the table of recent ids and buffers.
constexpr std::uint64_t kFixedMemory = std::uint64_t{64} << 20;

double per_id(std::uint64_t amount, const SeenEngineFigures& figures) {
  return static_cast<double>(amount) / static_cast<double>(figures.ids);
}

double bits_beside_fixed(std::uint64_t bytes, const SeenEngineFigures& figures) {
  return bytes <= kFixedMemory ? 0 : 8 * per_id(bytes - kFixedMemory, figures);
}

double ratio(const SeenFigures& figures) {
  return figures.seen.operations_per_second() / figures.peer->operations_per_second();
}

// An id that is passed in has 8 bytes.
double write_amplification(const SeenEngineFigures& figures) {
  return per_id(figures.written_bytes, figures) / 8;
}

void add_engine(JsonWriter& json, std::string_view name, const SeenEngineFigures& figures) {
  json.key(name).begin_object().field("ids", figures.ids);
  json.field("operations", figures.operations);
  json.field("operations_per_second", figures.operations_per_second());
  json.field("insert_seconds", figures.insert_seconds);
  json.field("compact_seconds", figures.compact_seconds);
  json.key("lookup_ns").begin_object().field("absent_at_once", figures.absent_at_once);
  json.field("absent", figures.absent).field("absent_in_batches", figures.absent_in_batches);
  json.field("present", figures.present);
  json.field("present_in_batches", figures.present_in_batches).end();
  json.field("memory_bytes", figures.memory_bytes);
  json.field("bits_per_id_beside_64_mib", bits_beside_fixed(figures.memory_bytes, figures));
  json.field("resident_growth_bytes", figures.resident_growth);
  json.field("resident_bits_per_id_beside_64_mib",
             bits_beside_fixed(figures.resident_growth, figures));
  json.field("disk_bytes", figures.disk_bytes);
  json.field("disk_bytes_per_id", per_id(figures.disk_bytes, figures));
  json.field("written_bytes", figures.written_bytes);
  json.field("write_amplification", write_amplification(figures));
  json.field("wrong_answers", figures.wrong).end();
}

class Table {
 public:
  explicit Table(const SeenFigures& figures) : figures_(figures) {}

  template <typename Value>
  void row(std::string_view name, std::string_view unit, Value value) {
    text_ += fmt::format("  {:<34}{:>12}", name, value(figures_.seen));
    if (figures_.peer) text_ += fmt::format("{:>12}", value(*figures_.peer));
    text_ += fmt::format("  {}\n", unit);
  }
  void nanoseconds(std::string_view name, double SeenEngineFigures::* what) {
    row(name, "ns", [=](const SeenEngineFigures& of) { return fmt::format("{:.0f}", of.*what); });
  }
  std::string take() { return std::move(text_); }

 private:
  const SeenFigures& figures_;
  std::string text_;
};

std::string header(const SeenFigures& figures) {
  std::string text = fmt::format(
      "{} ids of 64 bits, {:.0f} % of the inserted ids were repeats; durable every {}; one "
      "thread\n\n",
      app::with_commas(figures.seen.ids), 100 * figures.repeats,
      app::with_commas(figures.commit_every));
  text += fmt::format("  {:<34}{:>12}", "", "seen set");
  return text + (figures.peer ? fmt::format("{:>12}\n", "RocksDB") : std::string("\n"));
}

void add_memory_rows(Table& table) {
  table.row("memory, as counted by the engine", "bits per id, beside 64 MiB", [](const auto& of) {
    return fmt::format("{:.2f}", bits_beside_fixed(of.memory_bytes, of));
  });
  table.row("peak memory of the process", "",
            [](const auto& of) { return format_bytes(of.resident_growth); });
  table.row("disk, after merges", "bytes per id",
            [](const auto& of) { return fmt::format("{:.2f}", per_id(of.disk_bytes, of)); });
  table.row("bytes written per byte inserted", "times",
            [](const auto& of) { return fmt::format("{:.2f}", write_amplification(of)); });
  table.row("wrong answers", "", [](const auto& of) { return app::with_commas(of.wrong); });
}

}  // namespace

std::string to_json(const SeenFigures& figures) {
  JsonWriter json(2);
  json.begin_object().field("bench", "seen").field("threads", 1);
  json.field("repeats", figures.repeats).field("commit_every", figures.commit_every);
  add_engine(json, "seen_set", figures.seen);
  json.field("filter_bits_per_id", 8 * per_id(figures.filter_bytes, figures.seen));
  json.field("memory_read_ns", figures.memory_read);
  if (figures.peer) {
    add_engine(json, "rocksdb", *figures.peer);
    json.field("rocksdb_settings", figures.peer_settings).field("ratio", ratio(figures));
  }
  return json.end().take();
}

std::string to_table(const SeenFigures& figures) {
  Table table(figures);
  table.row("check and insert", "ids/s", [](const auto& of) {
    return app::with_commas(static_cast<std::uint64_t>(of.operations_per_second()));
  });
  table.row("flushes and merges afterwards", "s",
            [](const auto& of) { return fmt::format("{:.1f}", of.compact_seconds); });
  table.nanoseconds("absent, before merges", &SeenEngineFigures::absent_at_once);
  table.nanoseconds("absent", &SeenEngineFigures::absent);
  table.nanoseconds("absent, in batches", &SeenEngineFigures::absent_in_batches);
  table.nanoseconds("present", &SeenEngineFigures::present);
  table.nanoseconds("present, in batches", &SeenEngineFigures::present_in_batches);
  add_memory_rows(table);
  std::string text = header(figures) + table.take();
  text += fmt::format("\n  One random read of as much memory as the filters take: {:.0f} ns.\n",
                      figures.memory_read);
  if (!figures.peer) return text;
  text += fmt::format("\n  The seen set is {:.1f} times as fast.\n", ratio(figures));
  if (figures.peer->ids != figures.seen.ids)
    text += fmt::format("  RocksDB held {} ids.\n", app::with_commas(figures.peer->ids));
  return text + fmt::format("  RocksDB: {}.\n", figures.peer_settings);
}

}  // namespace kin::bench
