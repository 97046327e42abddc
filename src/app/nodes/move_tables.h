// Answers of a router about moves and repartitions, as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/json_value.h"

namespace kin::app {

// 0 or false for a value of another type.
std::uint64_t whole(const data::JsonValue& value);
double real(const data::JsonValue& value);
bool truth(const data::JsonValue& value);

// "2 moves".
std::string plural(std::uint64_t count, std::string_view what);

// What a plan moves, and what each node has before and after it.
std::string plan_table(const data::JsonValue& answer);
// How far a copy is: "1,200 of 5,000 entities, 12.1 MB, 8.0 MB/s, 12 s left".
std::string progress_of(const data::JsonValue& move);
std::string moves_table(const data::JsonValue& answer);

// "split, 2 more, of 7", "merge of 7 12, without 12", "retraining of 0 1 2".
std::string name_of_repartition(const data::JsonValue& one);
// Empty for null.
std::string repartition_line(const data::JsonValue& one);

}  // namespace kin::app
