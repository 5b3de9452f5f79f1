// The pool: order, typed errors, crashes, Ctrl-C, and no child left behind.
#include "models/base/errors.hpp"
#include "sim/run/fork_pool.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

using namespace replisim;

namespace {

bool no_children_left() { return ::waitpid(-1, nullptr, WNOHANG) < 0 and errno == ECHILD; }

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator list("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(list), end(list)));
}

Job sleeping(std::string name, int milliseconds, std::string value) {
  return {std::move(name), [=] {
            ::usleep(static_cast<useconds_t>(milliseconds) * 1000);
            return value;
          }};
}

template <typename Error>
Job failing(Error error) {
  return {"failing", [error]() -> std::string { throw error; }};
}

} // namespace

TEST_CASE("results come in order of submission, whoever ends first") {
  for (const int jobs : {1, 2, 8}) {
    const auto outcomes = run_forked(
        {sleeping("slow", 60, "a"), sleeping("fast", 1, "b"), sleeping("middle", 20, "c")}, {jobs, {}});
    REQUIRE(outcomes.size() == 3);
    CHECK(outcomes[0].get() == "a");
    CHECK(outcomes[1].get() == "b");
    CHECK(outcomes[2].get() == "c");
  }
  CHECK(no_children_left());
}

TEST_CASE("no job gives no outcome") { CHECK(run_forked({}).empty()); }

TEST_CASE("a value may be empty, large, or hold any byte") {
  std::string large(5'000'000, 'x');
  large[17] = '\0';
  const auto outcomes =
      run_forked({{"empty", [] { return std::string(); }}, {"large", [&] { return large; }}});
  CHECK(outcomes[0].get().empty());
  CHECK(outcomes[1].get() == large);
}

TEST_CASE("each job has a process of its own, and the parent's memory stays as it was") {
  int counter = 0;
  const Job job{"count", [&] { return std::to_string(++counter) + " " + std::to_string(::getpid()); }};
  const auto outcomes = run_forked({job, job});
  CHECK(outcomes[0].get().substr(0, 2) == "1 ");
  CHECK(outcomes[1].get().substr(0, 2) == "1 ");
  CHECK(outcomes[0].get() != outcomes[1].get());
  CHECK(counter == 0);
}

TEST_CASE("never more children at a time than asked for") {
  // Each job reports how many siblings the parent has while it runs.
  const auto siblings = [parent = ::getpid()] {
    ::usleep(10'000);
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string stat_file = entry.path().string() + "/stat";
      if (entry.is_symlink()) // "self" would count its process twice
        continue;
      std::FILE* file = std::fopen(stat_file.c_str(), "r");
      if (file == nullptr)
        continue;
      int pid = 0;
      char state = 0;
      int ppid = 0;
      const int fields = std::fscanf(file, "%d (%*[^)]) %c %d", &pid, &state, &ppid);
      std::fclose(file);
      count += fields == 3 and ppid == parent and state != 'Z' ? 1 : 0;
    }
    return std::to_string(count);
  };
  const auto outcomes = run_forked(std::vector<Job>(8, Job{"siblings", siblings}), {2, {}});
  for (const auto& outcome : outcomes)
    CHECK(std::stoi(outcome.get()) <= 2);
}

TEST_CASE("exceptions arrive with their type and text") {
  const Diagnostic first{"a.yaml", 3, 5, "servers.pub", "found 1; allowed 2"};
  const Diagnostic second{"--set x", 0, 0, "x", "unknown key"};
  const auto outcomes =
      run_forked({failing(UsageError("put it right")), failing(ScenarioError({first, second})),
                  failing(InvariantViolation("lost a row")), failing(DeadlockError("all wait")),
                  failing(std::out_of_range("surprise")), sleeping("fine", 1, "ok")});
  CHECK_THROWS_WITH(outcomes[0].get(), "put it right");
  CHECK_THROWS_AS(outcomes[0].get(), UsageError);
  try {
    outcomes[1].get();
    FAIL("no error arrived");
  } catch (const ScenarioError& e) {
    REQUIRE(e.diagnostics().size() == 2);
    CHECK(e.diagnostics()[0].to_string() == first.to_string());
    CHECK(e.diagnostics()[1].to_string() == second.to_string());
  }
  CHECK_THROWS_AS(outcomes[2].get(), InvariantViolation);
  CHECK_THROWS_WITH(outcomes[2].get(), "lost a row");
  CHECK_THROWS_AS(outcomes[3].get(), DeadlockError);
  CHECK_THROWS_AS(outcomes[4].get(), InvariantViolation);
  CHECK_THROWS_WITH(outcomes[4].get(), Catch::Contains("surprise"));
  CHECK(outcomes[5].get() == "ok");
  CHECK(no_children_left());
}

TEST_CASE("a killed child is an error that names the job and the signal") {
  const Job killed{"cell insert/64", []() -> std::string {
                     ::kill(::getpid(), SIGKILL);
                     return "never";
                   }};
  const Job leaving{"cell delete/64", []() -> std::string { ::_exit(7); }};
  const auto outcomes = run_forked({killed, leaving, sleeping("fine", 1, "ok")}, {2, {}});
  CHECK_THROWS_AS(outcomes[0].get(), ChildFailure);
  CHECK_THROWS_WITH(outcomes[0].get(), Catch::Contains("cell insert/64") and Catch::Contains("signal 9"));
  CHECK_THROWS_WITH(outcomes[1].get(), Catch::Contains("cell delete/64") and Catch::Contains("exit code 7"));
  CHECK(outcomes[2].get() == "ok");
  CHECK(no_children_left());
}

TEST_CASE("descriptors do not leak") {
  const auto before = open_descriptors();
  run_forked(std::vector<Job>(10, sleeping("x", 0, "y")), {3, {}});
  run_forked({failing(UsageError("no"))});
  CHECK(open_descriptors() == before);
}

TEST_CASE("progress counts every job once") {
  std::vector<std::size_t> seen;
  run_forked(std::vector<Job>(4, sleeping("x", 0, "y")), {2, [&](std::size_t done, std::size_t total) {
                                                            CHECK(total == 4);
                                                            seen.push_back(done);
                                                          }});
  CHECK(seen == std::vector<std::size_t>{1, 2, 3, 4});
}

TEST_CASE("an exception of the caller's callback leaves no child") {
  const std::vector<Job> jobs{sleeping("fast", 1, "a"), sleeping("slow", 60'000, "b")};
  const PoolOptions options{2, [](std::size_t, std::size_t) { throw UsageError("callback"); }};
  CHECK_THROWS_AS(run_forked(jobs, options), UsageError);
  CHECK(no_children_left());
}

TEST_CASE("Ctrl-C keeps what is finished and ends the rest at once") {
  const InterruptScope scope;
  // The first job ends; the second sends the signal to the parent, as a terminal would, and hangs.
  const Job interrupting{"hanging", [parent = ::getpid()]() -> std::string {
                           ::kill(parent, SIGINT);
                           ::sleep(60);
                           return "never";
                         }};
  const auto outcomes =
      run_forked({sleeping("done", 0, "kept"), interrupting, sleeping("never started", 0, "x")}, {1, {}});
  REQUIRE(outcomes.size() == 3);
  CHECK(outcomes[0].get() == "kept");
  CHECK_THROWS_AS(outcomes[1].get(), Interrupted);
  CHECK_THROWS_AS(outcomes[2].get(), Interrupted);
  CHECK(InterruptScope::interrupted());
  CHECK(no_children_left());
  // Inside the same scope nothing new starts.
  CHECK_THROWS_AS(run_forked({sleeping("later", 0, "x")})[0].get(), Interrupted);
}

TEST_CASE("a new scope forgets an earlier Ctrl-C") {
  CHECK(run_forked({sleeping("again", 0, "fine")})[0].get() == "fine");
  CHECK_FALSE(InterruptScope::interrupted());
}

TEST_CASE("there is always a CPU") { CHECK(available_cpus() >= 1); }
