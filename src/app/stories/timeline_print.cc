#include "app/stories/timeline_print.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <vector>

#include "app/words.h"
#include "base/json_writer.h"
#include "stories/news_json.h"

namespace kin::app {
namespace {

using stories::ItemView;
using stories::StoryView;
using stories::Time;

constexpr std::size_t kMostNames = 5;

std::string day_of(Time time) {
  const std::time_t seconds = time.time_since_epoch().count();
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%A, %e %B %Y", &parts);
  std::string day(text.data(), size);
  // %e pads the day with a space.
  if (const auto twice = day.find(",  "); twice != std::string::npos) day.erase(twice + 1, 1);
  return day;
}

std::string age(Time time, Time now) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(now - time).count();
  if (minutes < 1) return "now";
  if (minutes < 60) return fmt::format("{} min", minutes);
  if (minutes < 48 * 60) return fmt::format("{} h", minutes / 60);
  return fmt::format("{} days", minutes / 60 / 24);
}

// The other sources, each once, the newest first.
std::string names_of(const StoryView& story) {
  std::vector<std::string> names;
  for (const ItemView& item : story.others) {
    std::string name = harmless(item.source);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostNames; ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kMostNames ? text + ", …" : text;
}

class Lines {
 public:
  explicit Lines(const TimelineStyle& style) : style_(style) {}

  void add(const StoryView& story) {
    if (const std::string day = day_of(story.at); day != day_) {
      text_ += (day_.empty() ? "" : "\n") + in("1", day) + "\n\n";
      day_ = day;
    }
    const ItemView& main = story.representative;
    const char* mark = story.starred ? "★" : story.read ? " " : "●";
    text_ += fmt::format(
        "{} {}{}\n", mark, in(story.read ? "0" : "1", harmless(main.title)),
        in("2", fmt::format("  {}, {}", harmless(main.source), age(story.last, style_.now))));
    if (story.news > 0)
      text_ += in("2", fmt::format("  {} new since you read it", story.news)) + "\n";
    if (style_.expand && !main.url.empty()) text_ += in("2", "  " + harmless(main.url)) + "\n";
    if (story.count < 2) return;
    text_ += in("2", fmt::format("  ↳ {} ({})", names_of(story), story.count - 1)) + "\n";
    if (!style_.expand) return;
    for (const ItemView& item : story.others) add_other(item);
  }

  std::string take() { return std::move(text_); }

 private:
  void add_other(const ItemView& item) {
    text_ += fmt::format(
        "    {}{}\n", harmless(item.title),
        in("2", fmt::format("  {}, {}", harmless(item.source), age(item.published, style_.now))));
    if (!item.url.empty()) text_ += in("2", "    " + harmless(item.url)) + "\n";
  }
  std::string in(std::string_view code, const std::string& text) const {
    return style_.colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }

  const TimelineStyle& style_;
  std::string day_;
  std::string text_;
};

}  // namespace

std::string timeline_text(const stories::TimelinePage& page, const TimelineStyle& style) {
  Lines lines(style);
  for (const StoryView& story : page.stories) lines.add(story);
  return lines.take();
}

std::string timeline_json(const stories::TimelinePage& page) {
  JsonWriter json(2);
  stories::write_timeline(json, page);
  return json.take() + "\n";
}

}  // namespace kin::app
