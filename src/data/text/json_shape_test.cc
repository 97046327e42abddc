#include "data/text/json_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kin::data {
namespace {

TEST(JsonShape, TellsNumbersThatADoubleHoldsFromThoseItDoesNot) {
  for (const char* number : {"0", "-0.0", "1", "0.1", "1.50", "123456789012345", "9007199254740992",
                             "1e300", "5e-324", "0.30000000000000004", "1E5",
                             "100000000000000000000", "0.000", "1.7976931348623157e+308"}) {
    EXPECT_TRUE(survives_as_double(number)) << number;
  }
  for (const char* number : {"9007199254740993", "0.12345678901234567891", "1e999", "1e-999",
                             "12345678901234567890123", "0.3000000000000000444"}) {
    EXPECT_FALSE(survives_as_double(number)) << number;
  }
}

TEST(JsonShape, ForgetsFieldsThatAreTooMany) {
  JsonShape one;
  JsonShape two;
  JsonShapeReader reader;
  for (std::size_t i = 0; i < 2 * JsonShape::kMostFields; ++i) {
    std::string record = "{\"m\":{\"k" + std::to_string(i / 2) + "\":1}}";
    const std::size_t length = record.size();
    record.resize(length + 64);
    const std::string_view view = std::string_view(record).substr(0, length);
    reader.add(view, i, i < JsonShape::kMostFields ? one : two);
  }
  EXPECT_FALSE(one.fields.at("m")->too_many_fields);
  EXPECT_FALSE(two.fields.at("m")->too_many_fields);
  merge(one, two);
  EXPECT_FALSE(one.fields.at("m")->too_many_fields);
  EXPECT_EQ(one.fields.at("m")->fields.size(), JsonShape::kMostFields);
  std::string record = "{\"m\":{\"one more\":1}}" + std::string(64, ' ');
  reader.add(std::string_view(record).substr(0, record.size() - 64), 0, one);
  EXPECT_TRUE(one.fields.at("m")->too_many_fields);
}

}  // namespace
}  // namespace kin::data
