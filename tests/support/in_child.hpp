// Worlds run in forked children, one each; tests look at the plain numbers that come back.
#pragma once

#include "sim/engine/world.hpp"
#include "sim/run/fork_pool.hpp"

#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace replisim::test {

/// Under AddressSanitizer processes are threads, some fifty times slower: long tests do less there.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

using Numbers = std::vector<double>;
using Work = std::function<Numbers()>;

inline std::string as_bytes(const Numbers& numbers) {
  std::string bytes(numbers.size() * sizeof(double), '\0');
  if (not numbers.empty())
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

inline Numbers as_numbers(const std::string& bytes) {
  Numbers numbers(bytes.size() / sizeof(double));
  if (not numbers.empty())
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

/// Runs each of `works` in a child of its own. Rethrows the first error with its type.
inline std::vector<Numbers> in_children(const std::vector<Work>& works) {
  std::vector<Job> jobs;
  for (const auto& work : works)
    jobs.push_back({"world", [&work] { return as_bytes(work()); }});
  std::vector<Numbers> results;
  for (const auto& outcome : run_forked(jobs))
    results.push_back(as_numbers(outcome.get()));
  return results;
}

inline Numbers in_child(const Work& work) { return in_children({work}).front(); }

/// The same for work that gives text.
inline std::string text_in_child(const std::function<std::string()>& work) {
  return run_forked({{"world", work}}).front().get();
}

/// Ends the world when all of `expected` processes have said that they are done.
class Countdown {
public:
  Countdown(engine::World& world, std::size_t expected) : world_(world), left_(expected) {}
  void done() {
    if (--left_ == 0)
      world_.finish();
  }

private:
  engine::World& world_;
  std::size_t left_;
};

/// A machine of `cores` cores without second threads.
inline Machine machine_of(int cores, double speed = 1) {
  Machine machine;
  machine.name = std::string("m");
  machine.cores_per_socket = cores;
  machine.speed = speed;
  return machine;
}

} // namespace replisim::test
