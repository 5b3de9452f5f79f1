#include "cli/explore_server.hpp"

#include "cli/explore_knobs.hpp"
#include "cli/report_data.hpp"
#include "sim/report/run_report.hpp"
#include "sim/run/result_json.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace replisim::cli {

using nlohmann::json;

namespace {

constexpr const char* loopback = "127.0.0.1";
constexpr std::size_t most_timeline_rows = 500;
constexpr std::size_t most_request_bytes = 1'000'000;
constexpr std::size_t most_pages = 1000;
constexpr std::size_t server_threads = 8;
constexpr int forbidden = 403, bad_request = 400, conflict = 409, unprocessable = 422;

std::string text_of(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Takes as long whatever is wrong with `given`.
bool equal_secret(const std::string& given, const std::string& secret) {
  unsigned difference = given.size() == secret.size() ? 0U : 1U;
  for (std::size_t i = 0; i < secret.size(); ++i)
    difference |=
        static_cast<unsigned char>(secret[i]) ^ static_cast<unsigned char>(i < given.size() ? given[i] : 0);
  return difference == 0;
}

/// Which request of each page is the newest: what is older is not wanted any more.
class Newest {
public:
  void note(const std::string& page, std::int64_t n) {
    const std::lock_guard lock(mutex_);
    if (newest_.size() >= most_pages and not newest_.contains(page))
      newest_.clear();
    auto& known = newest_[page];
    known = std::max(known, n);
  }
  bool superseded(const std::string& page, std::int64_t n) const {
    const std::lock_guard lock(mutex_);
    const auto found = newest_.find(page);
    return found != newest_.end() and found->second > n;
  }

private:
  mutable std::mutex mutex_;
  std::map<std::string, std::int64_t> newest_;
};

/// What a page asks.
struct Question {
  std::string page;
  std::int64_t n = 0;
  std::vector<Override> overrides;
};

class Explorer {
public:
  Explorer(const ExploreOptions& options, const Library& library)
      : options_(options), source_(options.file, cached(library)),
        scenario_(source_.load(options.overrides)) {
    const json knobs = knobs_of(source_, scenario_, options.overrides);
    for (const json& knob : knobs)
      settable_.insert(knob.at("path").get<std::string>());
    json fixed = json::array();
    for (const auto& [path, value] : options.overrides)
      fixed.push_back(fmt::format("{}={}", path, value));
    page_ = html_page(options.assets, fmt::format("{} - replisim explore", scenario_.name),
                      text_of({{"scenario", scenario_.name},
                               {"file", options.file},
                               {"seed", options.seed},
                               {"fixed", std::move(fixed)},
                               {"knobs", knobs}}),
                      true);
  }

  void serve() {
    const InterruptScope scope;
    server_.new_task_queue = [] { return new httplib::ThreadPool(server_threads); };
    server_.set_payload_max_length(most_request_bytes);
    server_.set_tcp_nodelay(true);       // a small answer is not held back for the rest of a segment
    server_.set_keep_alive_max_count(1); // a browser's idle connections would keep threads from others
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      return refuse_strangers(request, response);
    });
    server_.Get("/", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(page_, "text/html; charset=utf-8");
    });
    answer_with("/answer", [this](const Question& question) { return answer(question); });
    answer_with("/modes", [this](const Question& question) {
      return text_of(modes_json(source_, question.overrides, options_.seed, false, pool(question)));
    });
    answer_with("/yaml", [this](const Question& question) {
      source_.load(question.overrides); // complains where they do not fit
      return text_of({{"yaml", standalone_yaml(options_.file, question.overrides)}});
    });
    bind();
    std::thread watch([this] {
      while (not InterruptScope::interrupted() and not stopped_)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      server_.stop();
    });
    options_.ready(fmt::format("http://{}:{}/?token={}", loopback, port_, options_.token));
    server_.listen_after_bind();
    stopped_ = true;
    watch.join();
  }

private:
  void bind() {
    port_ = options_.port;
    if (port_ == 0)
      port_ = server_.bind_to_any_port(loopback);
    else if (not server_.bind_to_port(loopback, port_))
      port_ = -1;
    if (port_ < 0)
      throw UsageError(fmt::format("port {} of {} is taken; choose another with --port, or leave it out",
                                   options_.port, loopback));
  }

  /// A page of another site can make a browser send requests here, and can give this address a name of its
  /// own: only our own page, under our own name and with the token, is answered.
  httplib::Server::HandlerResponse refuse_strangers(const httplib::Request& request,
                                                    httplib::Response& response) {
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("X-Frame-Options", "DENY");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("Cache-Control", "no-store");
    response.set_header("Cross-Origin-Resource-Policy", "same-origin");
    const std::string host = request.get_header_value("Host");
    const std::string own = fmt::format("{}:{}", loopback, port_), local = fmt::format("localhost:{}", port_);
    const std::string origin = request.get_header_value("Origin");
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    std::string why;
    if (host != own and host != local)
      why = "this address is not ours";
    else if (not origin.empty() and origin != fmt::format("http://{}", host))
      why = "another site asks";
    else if (request.method != "GET" and not site.empty() and site != "same-origin")
      why = "another site asks";
    else if (not equal_secret(request.get_param_value("token"), options_.token))
      why = "the token is missing or wrong: open the address that replisim explore printed";
    if (why.empty())
      return httplib::Server::HandlerResponse::Unhandled;
    response.status = forbidden;
    response.set_content(fmt::format("refused: {}\n", why), "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  }

  /// What the page offers, and how finely is simulated: no field that names a file of this computer.
  bool may_be_set(const std::string& path) const {
    return settable_.contains(path) or path.starts_with("simulation.");
  }

  Question question_of(const std::string& body) const {
    const json object = json::parse(body);
    Question out{object.at("page").get<std::string>(), object.at("n").get<std::int64_t>(),
                 options_.overrides};
    for (const auto& entry : object.at("set")) {
      out.overrides.push_back({entry.at("path").get<std::string>(), entry.at("value").get<std::string>()});
      if (const std::string& path = out.overrides.back().path; not may_be_set(path))
        throw UsageError(fmt::format("this is no question: the page has no setting '{}'", path));
    }
    return out;
  }

  void answer_with(const char* path, std::function<std::string(const Question&)> answer) {
    server_.Post(path, [this, answer = std::move(answer)](const httplib::Request& request,
                                                          httplib::Response& response) {
      const auto reply = [&](int status, const json& object) {
        response.status = status;
        response.set_content(text_of(object), "application/json");
      };
      std::optional<Question> question;
      try {
        question = question_of(request.body);
      } catch (const json::exception& e) {
        return reply(bad_request, {{"error", fmt::format("this is no question: {}", e.what())}});
      } catch (const UsageError& e) {
        return reply(bad_request, {{"error", e.what()}});
      }
      newest_.note(question->page, question->n);
      try {
        response.set_content(answer(*question), "application/json");
      } catch (const Interrupted&) {
        reply(conflict, {{"superseded", true}});
      } catch (const std::exception& e) {
        reply(unprocessable, {{"error", e.what()}});
      }
    });
  }

  PoolOptions pool(const Question& question) const {
    PoolOptions out;
    out.jobs = options_.jobs;
    out.cancelled = [this, page = question.page, n = question.n] { return newest_.superseded(page, n); };
    return out;
  }

  /// Loaded, simulated and written as JSON in a child: a mistake or a crash there ends nothing here.
  std::string answer(const Question& question) const {
    const Job job{scenario_.name, [this, &question] {
                    Scenario scenario = source_.load_point(question.overrides);
                    scenario.statistics.estimates_long = true;
                    std::vector<RunResult> runs;
                    runs.push_back(decode_result(simulation_job("", scenario, options_.seed, true).work()));
                    Timeline timeline = std::move(runs.front().timeline);
                    while (timeline.rows.size() > most_timeline_rows) {
                      for (std::size_t i = 1; 2 * i < timeline.rows.size(); ++i)
                        timeline.rows[i] = std::move(timeline.rows[2 * i]);
                      timeline.rows.resize((timeline.rows.size() + 1) / 2);
                    }
                    const json result = run_json(summarise_replications(std::move(runs)));
                    return text_of({{"result", result}, {"timeline", timeline_json_rows(timeline)}});
                  }};
    return run_forked({job}, pool(question)).front().get();
  }

  const ExploreOptions& options_;
  ScenarioSource source_;
  Scenario scenario_;
  std::string page_;
  std::set<std::string> settable_; ///< paths of the page's knobs
  int port_ = 0;
  httplib::Server server_;
  Newest newest_;
  std::atomic<bool> stopped_ = false;
};

} // namespace

void serve_explorer(const ExploreOptions& options, const Library& library) {
  Explorer(options, library).serve();
}

} // namespace replisim::cli
