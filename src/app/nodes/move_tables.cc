#include "app/nodes/move_tables.h"

#include <fmt/format.h>

#include "base/memory.h"

namespace kin::app {
namespace {

using data::JsonValue;

std::string duration(std::uint64_t seconds) {
  if (seconds < 60) return fmt::format("{} s", seconds);
  return fmt::format("{}:{:02} min", seconds / 60, seconds % 60);
}

std::string numbers_in(const JsonValue& numbers) {
  std::string text;
  for (const JsonValue& one : numbers.items())
    text += fmt::format("{}{}", text.empty() ? "" : " ", whole(one));
  return text;
}

}  // namespace

std::uint64_t whole(const JsonValue& value) {
  return value.number() == nullptr ? 0 : static_cast<std::uint64_t>(*value.number());
}
double real(const JsonValue& value) {
  return value.number() == nullptr ? 0 : *value.number();
}
bool truth(const JsonValue& value) {
  return value.boolean() != nullptr && *value.boolean();
}

std::string plural(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string plan_table(const JsonValue& answer) {
  const JsonValue& plan = answer["plan"];
  const std::string_view unit = plan["unit"].text();
  std::string table;
  if (plan["moves"].items().empty()) table += "nothing to move\n";
  for (const JsonValue& one : plan["moves"].items())
    table += fmt::format("  partition {:>5}  {:>12.6g} {}  {} -> {}\n", whole(one["partition"]),
                         real(one["weight"]), unit, one["from"].text(), one["to"].text());
  table += fmt::format("  {:<28}{:>14}{:>14}  {}\n", "node", "before", "after", unit);
  for (const JsonValue& shard : plan["shards"].items())
    table += fmt::format("  {:<28}{:>14.6g}{:>14.6g}\n", shard["address"].text(),
                         real(shard["before"]), real(shard["after"]));
  table += fmt::format("  the fullest node has {:.2f} times the mean, then {:.2f} times\n",
                       real(plan["skew_before"]), real(plan["skew_after"]));
  for (const JsonValue& one : answer["refused"].items())
    table += fmt::format("  partition {} does not move: {}\n", whole(one["partition"]),
                         one["reason"].text());
  return table;
}

std::string progress_of(const JsonValue& move) {
  if (move["entities"].is_null()) return {};
  const std::string of =
      move["of"].is_null() ? std::string() : fmt::format(" of {}", whole(move["of"]));
  std::string text = fmt::format("{}{} entities, {}", whole(move["entities"]), of,
                                 format_bytes(whole(move["bytes"])));
  if (real(move["bytes_per_second"]) > 0)
    text += fmt::format(", {}/s", format_bytes(whole(move["bytes_per_second"])));
  if (!move["seconds_left"].is_null())
    text += fmt::format(", {} left", duration(whole(move["seconds_left"])));
  return text;
}

std::string moves_table(const JsonValue& answer) {
  std::string table;
  for (const JsonValue& move : answer["moves"].items()) {
    table += fmt::format("  {:>9}  {:<13}{} -> {}", whole(move["partition"]), move["phase"].text(),
                         move["from"].text(), move["to"].text());
    if (const std::string progress = progress_of(move); !progress.empty() && !truth(move["over"]))
      table += "  " + progress;
    if (!move["reason"].text().empty()) table += fmt::format("  ({})", move["reason"].text());
    if (!move["problem"].text().empty()) table += fmt::format("  ({})", move["problem"].text());
    table += "\n";
  }
  if (table.empty()) return "no partition has moved yet\n";
  return fmt::format("  {:>9}  {:<13}{}\n", "partition", "phase", "from -> to") + table;
}

std::string name_of_repartition(const JsonValue& one) {
  const std::string partitions = numbers_in(one["partitions"]);
  const std::uint64_t added = whole(one["added"]);
  const std::size_t retired = one["retired"].items().size();
  if (added > 0 && retired == 0) return fmt::format("split, {} more, of {}", added, partitions);
  if (added == 0 && retired > 0)
    return fmt::format("merge of {}, without {}", partitions, numbers_in(one["retired"]));
  return "retraining of " + partitions;
}

std::string repartition_line(const JsonValue& one) {
  if (one.is_null()) return {};
  std::string line = fmt::format("  {}  {}  {}", one["phase"].text(), name_of_repartition(one),
                                 one["node"].text());
  if (!truth(one["over"]) && !one["looked"].is_null())
    line += fmt::format("  {} entities looked at, {} divided, {} places written",
                        whole(one["looked"]), whole(one["moved"]), whole(one["placed"]));
  if (!one["reason"].text().empty()) line += fmt::format("  ({})", one["reason"].text());
  if (!one["problem"].text().empty()) line += fmt::format("  ({})", one["problem"].text());
  return line + "\n";
}

}  // namespace kin::app
