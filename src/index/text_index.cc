#include "index/text_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "index/text/builder.h"
#include "index/text/manifest.h"

namespace kin::index {
namespace {

using Segments = std::vector<std::shared_ptr<LiveSegment>>;

// Segments that are merged at a time. More of them mean fewer merges and more segments to search.
constexpr std::size_t kFanOut = 8;
// A segment of at least this many documents is merged when a third of them is dead.
constexpr std::uint32_t kSmall = 512;
// Writers merge segments below kTiny documents themselves; with very many segments also those below
// kSmall, because then no background thread does it.
constexpr std::uint32_t kTiny = 64;
constexpr std::size_t kVeryMany = 48;

std::size_t tier_of(std::uint32_t documents) {
  std::size_t tier = 0;
  for (std::uint64_t size = kFanOut; size <= documents; size *= kFanOut) ++tier;
  return tier;
}

// Segments of sections that have ended are like all others.
TextSection section_in(const TextView::State& state, const LiveSegment& segment) {
  return state.sections.contains(segment.section()) ? segment.section() : kNoSection;
}

// The segments to merge: eight of about the same size and of the same section, or one with many dead
// documents. Segments of `most` documents or more are left alone.
Segments pick_merge(const TextView::State& state, std::uint32_t most) {
  std::map<std::pair<TextSection, std::size_t>, Segments> tiers;
  for (const auto& segment : state.segments) {
    const std::uint32_t size = segment->text().size();
    if (size >= most) continue;
    if (segment->removed() * 3 > size && size >= kSmall) return {segment};
    if (segment->removed() == size) return {segment};  // merging drops it
    Segments& tier = tiers[{section_in(state, *segment), tier_of(size)}];
    tier.push_back(segment);
    if (tier.size() == kFanOut) return tier;
  }
  return {};
}

std::string merge_live(const Segments& sources, std::uint64_t moment) {
  std::vector<MergeInput> inputs;
  for (const auto& source : sources) {
    MergeInput input{.segment = &source->text(), .keep = {}};
    for (std::uint32_t i = 0; i < source->text().size(); ++i)
      input.keep.push_back(source->live_at(i, moment));
    inputs.push_back(std::move(input));
  }
  return merge_segments(inputs);
}

}  // namespace

struct TextIndex::Impl {
  std::shared_ptr<const TextOptions> options;
  std::shared_ptr<AnalyzerPool> analyzers;
  std::mutex merging;             // one merge() at a time; taken before `writing`
  mutable std::mutex writing;     // not held while segments are built or merged in background
  mutable std::mutex publishing;  // held only to copy or exchange the pointer
  std::shared_ptr<const TextView::State> state;
  std::uint64_t next_id = 1;
  std::uint64_t last_section = 0;

  explicit Impl(TextOptions given)
      : options(std::make_shared<TextOptions>(std::move(given))),
        analyzers(std::make_shared<AnalyzerPool>(options->language)) {
    auto first = std::make_shared<TextView::State>();
    first->options = options;
    first->analyzers = analyzers;
    state = std::move(first);
  }

  std::shared_ptr<const TextView::State> current() const {
    const std::lock_guard lock(publishing);
    return state;
  }
  void publish(std::shared_ptr<const TextView::State> next) {
    const std::lock_guard lock(publishing);
    state = std::move(next);
  }

  std::shared_ptr<LiveSegment> live_segment(std::string bytes, TextSection section) {
    return std::make_shared<LiveSegment>(next_id++, TextSegment::of_writer(std::move(bytes)),
                                         section);
  }

  using Ordered = std::map<std::uint32_t, const TextDocument*>;
  std::string build(const Ordered& documents) const {
    auto analyzer = analyzers->borrow();
    TextBuilder builder(*options, *analyzer);
    for (const auto& [number, document] : documents) builder.add(*document);
    std::string bytes = std::move(builder).finish();
    analyzers->give_back(std::move(analyzer));
    return bytes;
  }

  // The bytes of a segment for each section.
  std::map<TextSection, std::string> build(const std::vector<TextDocument>& documents) const {
    // In the order of numbers, as a builder needs them; the last document of a number counts.
    Ordered all;
    for (const TextDocument& document : documents) all[document.number] = &document;
    std::map<TextSection, Ordered> by_section;
    for (const auto& [number, document] : all) by_section[document->section].emplace(number, document);
    std::map<TextSection, std::string> built;
    for (const auto& [section, ordered] : by_section) built.emplace(section, build(ordered));
    return built;
  }

  static void remove(const Segments& segments, std::uint32_t number, std::uint64_t moment) {
    for (const auto& segment : segments) {
      if (const auto ordinal = segment->text().ordinal(number)) segment->remove(*ordinal, moment);
    }
  }

  // Replaces `sources`, which are of one section, by `merged`, which holds the documents that were live
  // at `moment`.
  void replace(TextView::State& changed, const Segments& sources, std::string merged,
               std::uint64_t moment) {
    Segments& segments = changed.segments;
    const TextSection section = section_in(changed, *sources.front());
    std::erase_if(segments, [&](const auto& segment) {
      return std::ranges::find(sources, segment) != sources.end();
    });
    auto segment = live_segment(std::move(merged), section);
    if (segment->text().size() == 0) return;
    // Documents that were deleted while the merge ran are in its result, and are deleted there too.
    for (const auto& source : sources) {
      for (std::uint32_t i = 0; i < source->text().size(); ++i) {
        const std::uint64_t deleted_at = source->deleted_at(i);
        if (deleted_at == LiveSegment::kNever || deleted_at <= moment) continue;
        const auto ordinal = segment->text().ordinal(source->text().docs().numbers[i]);
        KIN_CHECK(ordinal.has_value(), "what lived when the merge began is in its result");
        segment->remove(*ordinal, deleted_at);
      }
    }
    segments.push_back(std::move(segment));
  }

  // Merges the segments that `pick` chooses. False if it chooses none.
  template <typename Pick>
  bool merge_picked(const Pick& pick) {
    const std::lock_guard one_at_a_time(merging);
    const auto before = current();
    const Segments sources = pick(*before);
    if (sources.empty()) return false;
    std::string merged = merge_live(sources, before->moment);
    const std::lock_guard lock(writing);
    auto next = std::make_shared<TextView::State>(*current());
    // If a writer merged one of them meanwhile, this merge is dropped.
    for (const auto& source : sources) {
      if (std::ranges::find(next->segments, source) == next->segments.end()) return true;
    }
    replace(*next, sources, std::move(merged), before->moment);
    publish(std::move(next));
    return true;
  }
};

TextIndex::TextIndex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TextIndex::TextIndex(TextIndex&&) noexcept = default;
TextIndex& TextIndex::operator=(TextIndex&&) noexcept = default;
TextIndex::~TextIndex() = default;

Result<TextIndex> TextIndex::create(TextOptions options) {
  KIN_RETURN_IF_ERROR(check_options(options));
  return TextIndex(std::make_unique<Impl>(std::move(options)));
}

Result<TextIndex> TextIndex::open(TextOptions options, std::string_view manifest,
                                  const LoadPart& load) {
  KIN_TRY(const TextManifest read, decode_manifest(manifest));
  KIN_TRY(TextIndex index, create(std::move(options)));
  Impl& impl = *index.impl_;
  if (read.options != options_hash(*impl.options))
    return Error{Code::kFailedPrecondition,
                 "the text index was made with other fields, facets or stems"};
  auto state = std::make_shared<TextView::State>(*impl.current());
  state->applied = read.applied;
  state->moment = 1;  // from here on; documents that are deleted already get this moment
  for (const ManifestPart& part : read.parts) {
    KIN_TRY(std::string bytes, load(part.id));
    KIN_TRY(auto segment, TextSegment::decode(std::move(bytes)));
    if (segment->checksum() != part.checksum ||
        segment->docs().fields != impl.options->fields.size() ||
        (!part.deleted.empty() && part.deleted.back() >= segment->size()))
      return Error{Code::kDataLoss,
                   fmt::format("segment {} of a text index is not the one recorded", part.id)};
    state->segments.push_back(std::make_shared<LiveSegment>(part.id, std::move(segment)));
    for (const std::uint32_t ordinal : part.deleted) state->segments.back()->remove(ordinal, 1);
  }
  impl.next_id = read.next_id;
  impl.publish(std::move(state));
  return index;
}

const TextOptions& TextIndex::options() const {
  return *impl_->options;
}

void TextIndex::apply(TextChanges changes) {
  if (changes.lsn <= impl_->current()->applied) return;
  std::map<TextSection, std::string> added;
  // Built without the lock: analysing texts takes most of the time.
  if (!changes.upserts.empty()) added = impl_->build(changes.upserts);
  const std::lock_guard lock(impl_->writing);
  const auto before = impl_->current();
  if (changes.lsn <= before->applied) return;  // another writer was faster
  auto next = std::make_shared<TextView::State>(*before);
  next->moment = before->moment + 1;
  next->applied = changes.lsn;
  // Older views still see these documents: they are deleted at a later moment than theirs.
  for (const std::uint32_t number : changes.deletes)
    Impl::remove(before->segments, number, next->moment);
  for (const TextDocument& document : changes.upserts)
    Impl::remove(before->segments, document.number, next->moment);
  for (auto& [section, bytes] : added)
    next->segments.push_back(impl_->live_segment(std::move(bytes), section));
  // Small merges are cheap. Done here, they keep the number of segments low without a background
  // thread.
  for (;;) {
    const Segments small =
        pick_merge(*next, next->segments.size() > kVeryMany ? kSmall : kTiny);
    if (small.empty()) break;
    impl_->replace(*next, small, merge_live(small, next->moment), next->moment);
  }
  impl_->publish(std::move(next));
}

TextView TextIndex::view() const {
  return TextView(impl_->current());
}

bool TextIndex::merge() {
  return impl_->merge_picked(
      [](const TextView::State& state) { return pick_merge(state, kNoDoc); });
}

void TextIndex::merge_all() {
  const auto all = [](const TextView::State& state) {
    std::map<TextSection, Segments> sections;
    for (const auto& segment : state.segments)
      sections[section_in(state, *segment)].push_back(segment);
    for (const auto& [section, segments] : sections) {
      if (segments.size() > 1 || segments[0]->removed() > 0) return segments;
    }
    return Segments{};
  };
  while (impl_->merge_picked(all)) continue;
}

TextSection TextIndex::begin_section(const DocSet& documents) {
  // A merge that is under way may join segments of the section and others.
  std::unique_lock one_at_a_time(impl_->merging, std::defer_lock);
  const bool is_empty = documents.size() == 0;
  if (!is_empty) one_at_a_time.lock();
  const std::lock_guard lock(impl_->writing);
  auto next = std::make_shared<TextView::State>(*impl_->current());
  const TextSection section{++impl_->last_section};
  next->sections.insert(section);
  for (const auto& segment : next->segments) {
    const auto& numbers = segment->text().docs().numbers;
    bool is_of_section = !is_empty && section_in(*next, *segment) == kNoSection;
    for (std::uint32_t i = 0; i < numbers.size() && is_of_section; ++i)
      is_of_section = !segment->live_at(i, next->moment) || documents.contains(numbers[i]);
    if (is_of_section) segment->join(section);
  }
  impl_->publish(std::move(next));
  return section;
}

void TextIndex::end_section(TextSection section) {
  const std::lock_guard lock(impl_->writing);
  auto next = std::make_shared<TextView::State>(*impl_->current());
  next->sections.erase(section);
  impl_->publish(std::move(next));
}

TextCheckpoint TextIndex::checkpoint() const {
  // Under the lock, so that next_id and the segments belong to one state.
  const std::lock_guard lock(impl_->writing);
  const auto state = impl_->current();
  TextManifest manifest{.options = options_hash(*impl_->options),
                        .applied = state->applied,
                        .next_id = impl_->next_id,
                        .parts = {}};
  TextCheckpoint result{.manifest = {}, .parts = {}, .applied = state->applied};
  for (const auto& segment : state->segments) {
    ManifestPart part{.id = segment->id(), .checksum = segment->text().checksum(), .deleted = {}};
    for (std::uint32_t i = 0; i < segment->text().size(); ++i) {
      if (!segment->live_at(i, state->moment)) part.deleted.push_back(i);
    }
    manifest.parts.push_back(std::move(part));
    result.parts.push_back({.id = segment->id(), .segment = segment->shared_text()});
  }
  result.manifest = encode_manifest(manifest);
  return result;
}

}  // namespace kin::index
