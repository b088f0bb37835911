// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERFORMANCE_CACHE_HPP
#define STRATA_PERFORMANCE_CACHE_HPP

#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <Strata_PerformanceModel.hpp>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <locale>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <system_error>

namespace Strata {

/// Where measured parameters are kept: $STRATA_CACHE_DIR, else
/// $XDG_CACHE_HOME/strata, else $HOME/.cache/strata, else nowhere (empty).
inline std::filesystem::path performance_cache_directory() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  if (const auto own = variable("STRATA_CACHE_DIR"); !own.empty()) return own;
  if (const auto xdg = variable("XDG_CACHE_HOME"); !xdg.empty())
    return xdg / "strata";
  if (const auto home = variable("HOME"); !home.empty())
    return home / ".cache" / "strata";
  return {};
}

/// What parameters are measured for: a device under a Kokkos version. `what`
/// adds whatever else they depend on, such as the scalar type.
inline std::string performance_key(const std::string& device,
                                   const std::string& what = {}) {
  std::string key = device + " Kokkos " + std::to_string(KOKKOS_VERSION) +
                    (what.empty() ? "" : " " + what);
  for (char& c : key)
    if (c == '\n' || c == '\r') c = ' ';
  return key;
}

namespace Detail {

/// A file name of the key's letters and digits, and a hash (FNV-1a) that keeps
/// keys apart which differ in the rest.
inline std::string cache_file_name(const std::string& key) {
  std::uint64_t hash = 14695981039346656037u;
  std::string name;
  for (const char c : key) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                       (c >= 'A' && c <= 'Z');
    if (name.size() < 80) name += plain ? c : '_';
  }
  return name + '-' + std::to_string(hash) + ".txt";
}

constexpr const char* performance_cache_header = "Strata performance 8";

}  // namespace Detail

/// The parameters kept under `key`, or nothing where there are none that can
/// be read and make sense. Never throws on account of the file.
inline std::optional<PerformanceParameters> read_performance_cache(
    const std::string& key) {
  const auto directory = performance_cache_directory();
  if (directory.empty()) return std::nullopt;
  std::ifstream file(directory / Detail::cache_file_name(key));
  file.imbue(std::locale::classic());
  std::string header, found, last;
  PerformanceParameters p;
  if (!std::getline(file, header) ||
      header != Detail::performance_cache_header ||
      !std::getline(file, found) || found != key)
    return std::nullopt;
  PerformanceParameters::for_each(
      p, [&](const char*, double& value) { file >> value; });
  if (!(file >> last) || last != "end") return std::nullopt;
  try {
    check_parameters(p);
  } catch (const OptionError&) {
    return std::nullopt;
  }
  return p;
}

/// Keeps `parameters` under `key`; false where that can't be done, which costs
/// no more than another measurement. The file appears whole or not at all,
/// however many processes write it at once.
inline bool write_performance_cache(const std::string& key,
                                    const PerformanceParameters& parameters) {
  check_parameters(parameters);
  const auto directory = performance_cache_directory();
  if (directory.empty()) return false;
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed) return false;

  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(std::numeric_limits<double>::max_digits10);
  text << Detail::performance_cache_header << '\n' << key << '\n';
  PerformanceParameters::for_each(
      parameters, [&](const char*, double value) { text << value << '\n'; });
  text << "end\n";

  std::random_device random;
  const auto name = Detail::cache_file_name(key);
  const auto temporary = directory / (name + '.' + std::to_string(random()) +
                                      std::to_string(random()) + ".tmp");
  {
    std::ofstream file(temporary);
    file << text.str();
    file.close();
    if (!file) failed = std::make_error_code(std::errc::io_error);
  }
  if (!failed) std::filesystem::rename(temporary, directory / name, failed);
  if (!failed) return true;
  std::error_code ignored;
  std::filesystem::remove(temporary, ignored);
  return false;
}

}  // namespace Strata

#endif
