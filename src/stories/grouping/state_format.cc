#include "stories/grouping/state_format.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/hash.h"

namespace kin::stories {
namespace {

constexpr std::string_view kMagic = "KINSTORY";
constexpr std::size_t kChecksumBytes = 8;

class Writer {
 public:
  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void put(T value) {
    append_le(out_, value);
  }
  void put(bool value) { append_le(out_, static_cast<std::uint8_t>(value)); }
  template <typename T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) put(value);
  }
  template <typename A, typename B>
  void put(const std::pair<A, B>& pair) {
    put(pair.first);
    put(pair.second);
  }
  void put(const std::array<std::uint32_t, kSketchHashes>& signature) {
    out_ += as_bytes_view(std::span<const std::uint32_t>(signature));
  }
  void put(const Vocabulary::Term& term) {
    all(term.key, term.kind, term.share, term.capital, term.shown, term.stories, term.headlines);
  }
  void put(const ItemTerm& part) { all(part.term, part.count); }
  void put(const NameMark& mark) { all(mark.term, mark.mixed); }
  void put(const PlacedTerm& placed) { all(placed.place, placed.term); }
  void put(const ProfileTerm& part) { all(part.term, part.sum, part.count); }
  void put(const MeaningSum& sum) { all(sum.values, sum.count, sum.length); }
  void put(const MeaningReader::State& state) { all(state.model, state.sum, state.count); }
  void put(const Profile& profile) {
    all(profile.terms, profile.members, profile.length, profile.parts, profile.meaning);
  }
  void put(const Features& features) {
    all(features.terms, features.names, features.placed, features.title_key, features.template_key,
        features.meaning);
  }
  void put(const Member& member) {
    all(member.item, member.arrival, member.published_at, member.source, member.rank, member.tier,
        member.similarity, member.length, member.keys, member.features);
  }
  void put(const Story& story) {
    all(story.id, story.representative, story.grouped, story.column, story.members);
  }
  void put(const GrouperState::OpenStory& open) { all(open.story, open.profile); }

  template <typename... T>
  void all(const T&... values) {
    (put(values), ...);
  }

  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : reader_(bytes) {}

  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void get(T& value) {
    value = reader_.read<T>();
  }
  void get(bool& value) { value = checked(reader_.read<std::uint8_t>(), 1) != 0; }
  void get(Tier& tier) {
    constexpr auto kMost = static_cast<std::uint8_t>(Tier::kUngrouped);
    tier = static_cast<Tier>(checked(reader_.read<std::uint8_t>(), kMost));
  }
  template <typename T>
  void get(std::vector<T>& values) {
    // Do not reserve memory for a count that may be forged. Elements are read one by one, and the
    // first missing one ends the loop.
    const auto count = reader_.read<std::uint32_t>();
    for (std::uint32_t i = 0; i < count && ok(); ++i) get(values.emplace_back());
  }
  template <typename A, typename B>
  void get(std::pair<A, B>& pair) {
    all(pair.first, pair.second);
  }
  void get(std::array<std::uint32_t, kSketchHashes>& signature) {
    for (std::uint32_t& slot : signature) get(slot);
  }
  void get(TermKind& kind) {
    constexpr auto kMost = static_cast<std::uint8_t>(TermKind::kLabel);
    kind = static_cast<TermKind>(checked(reader_.read<std::uint8_t>(), kMost));
  }
  void get(Vocabulary::Term& term) {
    all(term.key, term.kind, term.share, term.capital, term.shown, term.stories, term.headlines);
  }
  void get(ItemTerm& part) { all(part.term, part.count); }
  void get(NameMark& mark) { all(mark.term, mark.mixed); }
  void get(PlacedTerm& placed) { all(placed.place, placed.term); }
  void get(ProfileTerm& part) { all(part.term, part.sum, part.count); }
  void get(MeaningSum& sum) { all(sum.values, sum.count, sum.length); }
  void get(MeaningReader::State& state) { all(state.model, state.sum, state.count); }
  void get(Profile& profile) {
    all(profile.terms, profile.members, profile.length, profile.parts, profile.meaning);
  }
  void get(Features& features) {
    all(features.terms, features.names, features.placed, features.title_key, features.template_key,
        features.meaning);
  }
  void get(Member& member) {
    all(member.item, member.arrival, member.published_at, member.source, member.rank, member.tier,
        member.similarity, member.length, member.keys, member.features);
  }
  void get(Story& story) {
    std::vector<Member> members;
    all(story.id, story.representative, story.grouped, story.column, members);
    for (Member& member : members) story.add(std::move(member));
  }
  void get(GrouperState::OpenStory& open) { all(open.story, open.profile); }

  template <typename... T>
  void all(T&... values) {
    (get(values), ...);
  }

  bool ok() const { return reader_.ok() && sound_; }
  bool done() const { return ok() && reader_.rest().empty(); }

 private:
  std::uint8_t checked(std::uint8_t value, std::uint8_t most) {
    sound_ &= value <= most;
    return std::min(value, most);
  }

  ByteReader reader_;
  bool sound_ = true;
};

// One list of fields for reading and writing, so that they cannot differ.
template <typename Coder, typename State>
void code(Coder& coder, State& state) {
  coder.all(state.terms, state.counted_stories, state.counted_headlines, state.next_story,
            state.next_arrival, state.newest, state.swept, state.stories, state.signatures,
            state.aliases, state.apart, state.columns, state.meaning);
}

Error damaged(std::string_view what) {
  return {Code::kDataLoss, fmt::format("the stored state of story grouping {}", what)};
}

}  // namespace

std::string encode_state(const GrouperState& state) {
  Writer writer;
  for (const char c : kMagic) writer.put(c);
  writer.put(kStateVersion);
  code(writer, state);
  std::string bytes = writer.take();
  append_le(bytes, checksum(bytes));
  return bytes;
}

Result<GrouperState> decode_state(std::string_view bytes) {
  // From the kind to the contents: each check relies on those before it.
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + 4 + kChecksumBytes)
    return damaged("is not one");
  const std::string_view content = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (load_le<std::uint64_t>(bytes.data() + content.size()) != checksum(content))
    return damaged("is damaged: its checksum is wrong");
  const auto version = load_le<std::uint32_t>(content.data() + kMagic.size());
  if (version != kStateVersion)
    return damaged(fmt::format("has version {}, which this program does not know", version));
  Reader reader(content.substr(kMagic.size() + 4));
  GrouperState state;
  code(reader, state);
  if (!reader.done()) return damaged("is damaged: its lengths do not add up");
  return state;
}

}  // namespace kin::stories
