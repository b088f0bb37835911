// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_C_OPTIONS_HPP
#define STRATA_C_OPTIONS_HPP

#include <Strata_TriangularOptions.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "Library.hpp"

namespace StrataC {

class Options final : public Object {
 public:
  static constexpr const char* kind = "one of strata_options_create";
  using Value = std::variant<std::int64_t, double, std::string>;
  std::map<std::string, Value> values;
};

/// Where solves run, by the option `space`.
enum class Place { automatic, host, device };

}  // namespace StrataC

namespace Strata {
namespace Detail {
template <>
struct EnumeratorNames<StrataC::Place> {
  static constexpr const char* list[] = {"automatic", "host", "device"};
};
}  // namespace Detail
}  // namespace Strata

namespace StrataC {

/// Moves options to members of the library's structs, by their names.
class OptionReader {
 public:
  explicit OptionReader(strata_options options)
      : options_(options ? &object_of<Options>("options", options) : nullptr) {}

  /// An option that is not given leaves the member. @throws OptionError
  template <class Member>
  void read(const char* name, Member& member) {
    known_.push_back(name);
    if (!options_) return;
    const auto found = options_->values.find(name);
    if (found != options_->values.end()) convert(name, found->second, member);
  }

  /// @throws OptionError for an option that was not read
  void finish(const char* object) const {
    if (!options_) return;
    for (const auto& entry : options_->values) {
      bool is_known = false;
      std::string names;
      for (std::size_t k = 0; k < known_.size(); ++k) {
        is_known = is_known || entry.first == known_[k];
        names += (k == 0 ? "" : k + 1 < known_.size() ? ", " : " or ");
        names += known_[k];
      }
      if (!is_known)
        throw Strata::OptionError(
            "options", "'" + entry.first + "' is no option of " + object,
            "use " + names);
    }
  }

 private:
  static void convert(const char* name, const Options::Value& value,
                      double& member) {
    if (const auto* of = std::get_if<double>(&value))
      member = *of;
    else
      member = static_cast<double>(whole(name, value, "real"));
  }
  static void convert(const char* name, const Options::Value& value,
                      std::optional<double>& member) {
    double real = 0;
    convert(name, value, real);
    member = real;
  }
  static void convert(const char* name, const Options::Value& value,
                      bool& member) {
    const std::int64_t number = whole(name, value, "integer");
    if (number != 0 && number != 1)
      throw Strata::OptionError(name, "is " + std::to_string(number),
                                "pass 0 or 1");
    member = number == 1;
  }
  template <class Member>
  static void convert(const char* name, const Options::Value& value,
                      Member& member) {
    if constexpr (std::is_enum<Member>::value) {
      const auto* const given = std::get_if<std::string>(&value);
      if (!given) throw wrong_type(name, "no text", "text");
      for (const auto one : Strata::Detail::enumerators<Member>())
        if (*given == Strata::Detail::enumerator_name(one)) {
          member = one;
          return;
        }
      throw Strata::OptionError(
          name, "'" + *given + "' is unknown",
          "use " + Strata::Detail::enumerator_names<Member>());
    } else {
      const std::int64_t number = whole(name, value, "integer");
      using Limits = std::numeric_limits<Member>;
      if (number < static_cast<std::int64_t>(Limits::min()) ||
          (number > 0 && static_cast<std::uint64_t>(number) > Limits::max()))
        throw Strata::OptionError(name, "is " + std::to_string(number),
                                  "pass a number from " +
                                      std::to_string(Limits::min()) + " to " +
                                      std::to_string(Limits::max()));
      member = static_cast<Member>(number);
    }
  }

  static Strata::OptionError wrong_type(const char* name, const char* problem,
                                        const std::string& wanted) {
    return {name, std::string("is ") + problem,
            "set it by strata_options_set_" + wanted};
  }
  static std::int64_t whole(const char* name, const Options::Value& value,
                            const char* wanted) {
    if (const auto* of = std::get_if<std::int64_t>(&value)) return *of;
    throw wrong_type(name,
                     std::holds_alternative<double>(value) ? "a real" : "text",
                     wanted);
  }

  const Options* options_;
  std::vector<std::string> known_;
};

inline void read_plan_options(OptionReader& reader,
                              Strata::TriangularPlanOptions& options) {
  reader.read("algorithm", options.algorithm);
  reader.read("accuracy", options.accuracy);
  reader.read("merged_levels", options.merged_levels);
  reader.read("max_right_hand_sides", options.max_right_hand_sides);
  reader.read("max_plan_bytes", options.max_plan_bytes);
}

}  // namespace StrataC

#endif
