#include "data/text/skip_log.h"

#include <algorithm>
#include <iterator>

namespace kin::data {
namespace {

constexpr std::size_t kMessages = 100;

void keep_first(std::vector<std::pair<RecordId, std::string>>& messages) {
  std::sort(messages.begin(), messages.end());
  const auto same_row = [](const auto& a, const auto& b) { return a.first == b.first; };
  messages.erase(std::unique(messages.begin(), messages.end(), same_row), messages.end());
  if (messages.size() > kMessages) messages.resize(kMessages);
}

}  // namespace

void SkipLog::add(RecordId row, std::string message) {
  const std::scoped_lock lock(mutex_);
  rows_.push_back(row);
  messages_.emplace_back(row, std::move(message));
  if (messages_.size() >= 4 * kMessages) keep_first(messages_);
}

void SkipLog::settle() {
  records_.rows.insert(records_.rows.end(), rows_.begin(), rows_.end());
  std::sort(records_.rows.begin(), records_.rows.end());
  records_.rows.erase(std::unique(records_.rows.begin(), records_.rows.end()), records_.rows.end());
  std::move(messages_.begin(), messages_.end(), std::back_inserter(records_.messages));
  keep_first(records_.messages);
  records_.count = records_.rows.size();
  rows_.clear();
  messages_.clear();
}

bool SkipLog::contains(RecordId row) const {
  return !records_.rows.empty() &&
         std::binary_search(records_.rows.begin(), records_.rows.end(), row);
}

}  // namespace kin::data
