#include "tests/support/json.hpp"

template class nlohmann::basic_json<>;

namespace torus::support {

Json parsed(const std::string& text) { return Json::parse(text); }

}  // namespace torus::support
