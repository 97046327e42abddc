#include "server/http/json_body.h"

namespace kin::server {

Result<data::JsonValue> json_object_in(std::string_view body) {
  auto value = data::parse_json(body.empty() ? "{}" : body);
  if (!value) return with_context("the body is not JSON", value.error());
  if (value->object() == nullptr)
    return Error{Code::kInvalidArgument, "the body is not a JSON object"};
  return value;
}

}  // namespace kin::server
