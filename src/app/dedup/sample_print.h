// The report of a sample, for people and as JSON.
#pragma once

#include <string>

#include "dedup/sample.h"

namespace kin::app {

std::string format_sample(const dedup::SampleReport& report);
std::string sample_json(const dedup::SampleReport& report);

}  // namespace kin::app
