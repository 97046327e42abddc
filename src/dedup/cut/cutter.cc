#include "dedup/cut/cutter.h"

#include <algorithm>

#include "base/utf8.h"

namespace kin::dedup {
namespace {

using Unit = CutOptions::Unit;

// The first position from `at` on where a character begins.
std::uint32_t next_character(std::string_view text, std::uint32_t at) {
  while (at < text.size() && is_utf8_tail(text[at])) ++at;
  return at;
}

// The length of the longest prefix of whole characters.
std::size_t whole_characters(std::string_view text) {
  if (text.empty()) return 0;
  const std::size_t last = character_start(text, text.size() - 1);
  const char* const end = text.data() + text.size();
  const bool whole = static_cast<signed char>(text[last]) >= 0 ||
                     utf8_sequence_length(text.data() + last, end) > 0;
  return whole ? text.size() : last;
}

bool is_blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
}

// Whether only white space is left of every field.
bool is_emptied(const Units& units, const std::vector<CutPassage>& passages) {
  std::size_t next = 0;
  for (std::uint32_t field = 0; field < units.fields().size(); ++field) {
    const std::string_view text = units.fields()[field].text;
    std::size_t begin = 0;
    for (; next < passages.size() && passages[next].field == field; ++next) {
      if (!is_blank(text.substr(begin, passages[next].cut.begin - begin))) return false;
      begin = passages[next].cut.end;
    }
    if (!is_blank(text.substr(begin))) return false;
  }
  return true;
}

}  // namespace

Result<std::optional<std::string>> Cutter::id_of(RecordId record) {
  KIN_TRY(const Reference* reference, references_.get(record));
  return reference->id();
}

// The number of units, from the first on, that equal their references.
std::uint32_t Cutter::equal_units(Units& units, UnitRange own, const Reference::Run& reference,
                                  std::uint32_t of) const {
  if (options_.unit == Unit::kByte) {
    const Units::Field& field = units.fields()[units.field_of(own.begin)];
    const std::string_view text = field.text.substr(own.begin - field.units.begin, own.count());
    const std::string_view other =
        std::string_view(reference.text).substr(of - reference.units.begin, own.count());
    const auto [end, ignored] = std::mismatch(text.begin(), text.end(), other.begin(), other.end());
    return static_cast<std::uint32_t>(end - text.begin());
  }
  std::uint32_t equal = 0;
  while (equal < own.count() && units.text(own.begin + equal) == reference.text_of(of + equal)) {
    ++equal;
  }
  return equal;
}

// A text that differs from its reference has the same hash by chance: its windows stay.
Status Cutter::verify(Units& units, const MatchRun& run, std::vector<Segment>& segments,
                      RecordCut& result) {
  UnitRange left = run.units;
  std::uint32_t of = run.of.unit;
  KIN_TRY(const Reference* reference, references_.get(run.of.record));
  while (left.begin < left.end) {
    const Reference::Run* other = reference->find(of);
    if (other == nullptr)
      return Error{Code::kInternal, "a passage was to be compared with a text that was not kept"};
    const std::uint32_t end =
        std::min({left.end, units.fields()[units.field_of(left.begin)].units.end,
                  left.begin + other->units.end - of});
    const std::uint32_t equal = equal_units(units, {left.begin, end}, *other, of);
    if (equal >= options_.length) {
      segments.push_back({.units = {left.begin, left.begin + equal}, .of = {run.of.record, of}});
    }
    const bool differs = left.begin + equal < end;
    result.unverified += differs ? 1 : 0;
    left.begin += equal + (differs ? 1 : 0);
    of += equal + (differs ? 1 : 0);
  }
  return Done{};
}

Result<RecordCut> Cutter::cut(Units& units, const CutPlan& plan) {
  RecordCut result;
  std::vector<Segment> segments;
  for (const MatchRun& run : plan.matches)
    KIN_RETURN_IF_ERROR(verify(units, run, segments, result));
  // A run with a hole may end after the beginning of the next.
  if (result.unverified > 0) {
    std::sort(segments.begin(), segments.end(),
              [](const Segment& a, const Segment& b) { return a.units < b.units; });
  }
  std::vector<Segment> pieces = outside_references(plan, segments);
  KIN_RETURN_IF_ERROR(add_passages(units, pieces, result));
  result.emptied = !result.passages.empty() && is_emptied(units, result.passages);
  return result;
}

// The segments without their overlaps with earlier ones, and without references of other matches,
// if those stay.
std::vector<Cutter::Segment> Cutter::outside_references(
    const CutPlan& plan, const std::vector<Segment>& segments) const {
  std::vector<Segment> pieces;
  std::uint32_t covered = 0;
  std::size_t reference = 0;
  const auto add = [&](const Segment& segment, std::uint32_t begin, std::uint32_t end) {
    if (begin >= end) return;
    const std::uint32_t of = segment.of.unit + (begin - segment.units.begin);
    pieces.push_back({.units = {begin, end}, .of = {segment.of.record, of}});
  };
  for (const Segment& segment : segments) {
    std::uint32_t begin = std::max(segment.units.begin, covered);
    covered = std::max(covered, segment.units.end);
    if (!options_.keep_first) {
      add(segment, begin, segment.units.end);
      continue;
    }
    while (begin < segment.units.end) {
      while (reference < plan.references.size() && plan.references[reference].end <= begin)
        ++reference;
      if (reference == plan.references.size()) break;
      const UnitRange& stays = plan.references[reference];
      add(segment, begin, std::min(segment.units.end, stays.begin));
      begin = std::max(begin, stays.end);
    }
    add(segment, begin, segment.units.end);
  }
  return pieces;
}

// Adjacent pieces are cut as one; each has its own passage in it.
Status Cutter::add_passages(const Units& units, const std::vector<Segment>& pieces,
                            RecordCut& result) {
  for (std::size_t begin = 0; begin < pieces.size();) {
    const std::size_t field = units.field_of(pieces[begin].units.begin);
    std::size_t end = begin + 1;
    while (end < pieces.size() && pieces[end].units.begin == pieces[end - 1].units.end &&
           units.field_of(pieces[end].units.begin) == field) {
      ++end;
    }
    const ByteRange bytes =
        interval_bytes(units, {pieces[begin].units.begin, pieces[end - 1].units.end});
    const std::string_view text = units.fields()[field].text;
    std::uint32_t from = bytes.begin;
    for (std::size_t i = begin; i < end && from < bytes.end; ++i) {
      const std::uint32_t to =
          i + 1 == end
              ? bytes.end
              : std::min(bytes.end,
                         next_character(text, units.range(pieces[i + 1].units.begin).begin));
      if (from >= to) continue;
      CutPassage passage;
      passage.field = static_cast<std::uint32_t>(field);
      passage.cut = {from, to};
      KIN_RETURN_IF_ERROR(name_reference(units, pieces[i], passage));
      result.passages.push_back(passage);
      from = to;
    }
    begin = end;
  }
  return Done{};
}

// Sets the place where the text of a passage stays.
Status Cutter::name_reference(const Units& units, const Segment& piece, CutPassage& passage) {
  KIN_TRY(const Reference* reference, references_.get(piece.of.record));
  const std::uint32_t of = piece.of.unit;
  const Reference::Run* run = reference->find(of);
  passage.of = piece.of.record;
  passage.of_field = run->field;
  passage.of_range = run->range_of({of, of + piece.units.count()});
  if (options_.unit != Unit::kByte) return Done{};
  // The passage may begin and end some bytes later, at a character's boundary. A character that it
  // shares with the next passage is not included.
  const std::uint32_t later = passage.cut.begin - units.range(piece.units.begin).begin;
  const std::uint32_t most =
      std::min(piece.units.count() - later, passage.cut.end - passage.cut.begin);
  const std::string_view same =
      std::string_view(run->text).substr(of + later - run->units.begin, most);
  passage.of_range.begin += later;
  passage.of_range.end =
      passage.of_range.begin + static_cast<std::uint32_t>(whole_characters(same));
  return Done{};
}

// The white space on one side of an interval is cut with it, so that only that of the other side is
// left. With bytes, whole characters are cut.
ByteRange Cutter::interval_bytes(const Units& units, UnitRange interval) const {
  const Units::Field& field = units.fields()[units.field_of(interval.begin)];
  const ByteRange first = units.range(interval.begin);
  const ByteRange last = units.range(interval.end - 1);
  if (options_.unit == Unit::kByte) {
    const std::uint32_t begin = next_character(field.text, first.begin);
    const std::size_t end =
        last.end < field.text.size() ? character_start(field.text, last.end) : last.end;
    return {begin, std::max(begin, static_cast<std::uint32_t>(end))};
  }
  const bool has_before = interval.begin > field.units.begin;
  const bool has_behind = interval.end < field.units.end;
  const std::uint32_t before = has_before ? units.range(interval.begin - 1).end : first.begin;
  const std::uint32_t behind = has_behind ? units.range(interval.end).begin : last.end;
  if (!has_behind) return {before, last.end};
  if (!has_before || options_.by_line()) return {first.begin, behind};
  // A side with more line breaks is kept.
  const auto breaks = [&](std::uint32_t begin, std::uint32_t end) {
    const std::string_view gap = field.text.substr(begin, end - begin);
    return std::count(gap.begin(), gap.end(), '\n');
  };
  if (breaks(last.end, behind) > breaks(before, first.begin)) return {before, last.end};
  return {first.begin, behind};
}

}  // namespace kin::dedup
