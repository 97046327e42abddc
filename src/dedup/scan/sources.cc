#include "dedup/scan/sources.h"

#include <algorithm>

#include "base/bytes.h"

namespace kin::dedup {

std::uint16_t Sources::number_of(std::string_view source) {
  std::string name(source);
  const std::lock_guard lock(mutex_);
  const auto [at, added] =
      numbers_.try_emplace(std::move(name), static_cast<std::uint16_t>(counts_.size() + 1));
  if (added && counts_.size() == kMost) {
    given_up_ = true;
    numbers_.erase(at);
    return 0;
  }
  if (added) counts_.push_back({.name = at->first});
  ++counts_[at->second - 1U].documents;
  return at->second;
}

void Sources::add(RecordId id, std::string_view source) {
  if (given_up_) return;
  of_record_.set(id, number_of(source));
}

void Sources::remove(RecordId id) {
  const std::uint16_t number = of_record_.get(id);
  if (number != 0) ++counts_[number - 1U].removed;
}

void Sources::skip(RecordId id) {
  const std::uint16_t number = of_record_.get(id);
  if (number != 0) ++counts_[number - 1U].seen;
}

std::vector<Sources::Count> Sources::counts() const {
  if (given_up_) return {};
  std::vector<Count> sorted = counts_;
  std::sort(sorted.begin(), sorted.end(),
            [](const Count& a, const Count& b) { return a.name < b.name; });
  return sorted;
}

std::string Sources::encode(std::size_t records) const {
  const std::lock_guard lock(mutex_);
  std::string bytes;
  append_le(bytes, static_cast<std::uint8_t>(given_up_));
  append_le(bytes, static_cast<std::uint32_t>(counts_.size()));
  for (const Count& count : counts_) {
    append_le(bytes, static_cast<std::uint32_t>(count.name.size()));
    bytes += count.name;
    append_le(bytes, count.documents);
  }
  return bytes + of_record_.encode(records);
}

bool Sources::decode(std::string_view bytes) {
  ByteReader reader(bytes);
  given_up_ = reader.read<std::uint8_t>() != 0;
  const auto count = reader.read<std::uint32_t>();
  if (!reader.ok() || count > kMost) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto length = reader.read<std::uint32_t>();
    Count source{.name = std::string(reader.read_bytes(length))};
    source.documents = reader.read<std::uint64_t>();
    numbers_.emplace(source.name, static_cast<std::uint16_t>(counts_.size() + 1));
    counts_.push_back(std::move(source));
  }
  if (!reader.ok()) return false;
  of_record_.decode(reader.rest());
  return true;
}

}  // namespace kin::dedup
