"""The manifests hold together: what refers to what, the order of all graces, and every setting known to the server.

usage: manifests_test.py SERVER_BINARY
"""

import os
import re
import subprocess
import sys
import unittest

import grpc

import rendered
import server

SERVER = sys.argv.pop()
SKIPPED = 77


def seconds(text):
    units = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
    parts = re.findall(r"([\d.]+)(ms|s|m|h)", text)
    return sum(float(number) * units[unit] for number, unit in parts)


def matches(selector, labels):
    return all((labels or {}).get(key) == value for key, value in (selector or {}).items())


def template_labels(each):
    return each["spec"]["template"]["metadata"]["labels"]


def ports(each):
    return {port["name"]: port["containerPort"]
            for container in rendered.pod(each)["containers"] for port in container["ports"]}


class EveryOverlay(unittest.TestCase):
    """Each test looks at all overlays, and at those that an optional component makes."""

    @classmethod
    def setUpClass(cls):
        cls.all = {name: rendered.overlay(name) for name in rendered.OVERLAYS}
        cls.all["memory with tls"] = rendered.overlay_with("memory", "tls")
        cls.all["memory with route"] = rendered.overlay_with("memory", "route")

    def each(self):
        for self.current, objects in self.all.items():
            yield objects, rendered.of_kind(objects, "Deployment", "StatefulSet")

    def _formatMessage(self, message, standard):
        return "overlay %s: %s" % (self.current, super()._formatMessage(message, standard))

    def test_workloads_select_their_own_pods(self):
        for _, workloads in self.each():
            for each in workloads:
                self.assertTrue(matches(each["spec"]["selector"]["matchLabels"], template_labels(each)))

    def test_everything_is_in_the_namespace(self):
        for objects, _ in self.each():
            spaces = {each["metadata"].get("namespace") for each in objects if each["kind"] != "Namespace"}
            self.assertEqual(spaces, {each["metadata"]["name"] for each in rendered.of_kind(objects, "Namespace")})

    def test_services_reach_ports_that_exist(self):
        for objects, workloads in self.each():
            for service in rendered.of_kind(objects, "Service"):
                behind = [each for each in workloads if matches(service["spec"]["selector"], template_labels(each))]
                self.assertEqual(len(behind), 1, service["metadata"]["name"])
                for port in service["spec"]["ports"]:
                    self.assertEqual(ports(behind[0])[port["targetPort"]], port["port"])

    def test_stateful_sets_name_a_headless_service(self):
        for objects, workloads in self.each():
            headless = {each["metadata"]["name"] for each in rendered.of_kind(objects, "Service")
                        if each["spec"].get("clusterIP") == "None"}
            for each in workloads:
                if each["kind"] == "StatefulSet":
                    self.assertIn(each["spec"]["serviceName"], headless)

    def test_probes_ask_numeric_ports_that_exist(self):
        for _, workloads in self.each():
            for each in workloads:
                for container in rendered.pod(each)["containers"]:
                    for name in ("startupProbe", "readinessProbe", "livenessProbe"):
                        probe = container[name].get("grpc") or container[name]["httpGet"]
                        self.assertIsInstance(probe["port"], int)
                        self.assertIn(probe["port"], ports(each).values())

    def test_ports_are_those_that_the_server_listens_on(self):
        for objects, _ in self.each():
            own = rendered.workload(objects)
            told = rendered.settings(objects)
            for name, setting in (("grpc", "LISTEN"), ("health", "HEALTH_LISTEN"), ("metrics", "METRICS_LISTEN")):
                self.assertEqual(told["REVERSI_" + setting], "0.0.0.0:%d" % ports(own)[name])
            for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
                self.assertEqual(rendered.pod(own)["containers"][0][probe]["grpc"]["port"], ports(own)["health"])

    def test_policies_budgets_and_scalers_find_what_they_are_for(self):
        for objects, workloads in self.each():
            for policy in rendered.of_kind(objects, "NetworkPolicy"):
                selector = policy["spec"]["podSelector"].get("matchLabels")
                chosen = [each for each in workloads if matches(selector, template_labels(each))]
                self.assertTrue(chosen)
                for rule in policy["spec"].get("ingress", []):
                    for port in rule["ports"]:
                        self.assertIn(port["port"], ports(chosen[0]).values())
            for budget in rendered.of_kind(objects, "PodDisruptionBudget"):
                selector = budget["spec"]["selector"]["matchLabels"]
                self.assertTrue([each for each in workloads if matches(selector, template_labels(each))])
            for scaler in rendered.of_kind(objects, "HorizontalPodAutoscaler"):
                target = scaler["spec"]["scaleTargetRef"]
                own = rendered.workload(objects, target["name"])
                self.assertEqual((own["kind"], own["apiVersion"]), (target["kind"], target["apiVersion"]))
                self.assertNotIn("replicas", own["spec"])

    def test_everything_is_denied_that_is_not_allowed(self):
        for objects, _ in self.each():
            closed = [each["spec"] for each in rendered.of_kind(objects, "NetworkPolicy")
                      if each["spec"]["podSelector"] == {}]
            self.assertEqual(closed, [{"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}])

    def test_the_scrape_finds_the_metrics_port(self):
        for objects, _ in self.each():
            for monitor in rendered.of_kind(objects, "ServiceMonitor"):
                found = [each for each in rendered.of_kind(objects, "Service")
                         if matches(monitor["spec"]["selector"]["matchLabels"], each["metadata"].get("labels"))]
                self.assertEqual(len(found), 1)
                names = {port["name"] for port in found[0]["spec"]["ports"]}
                self.assertLessEqual({end["port"] for end in monitor["spec"]["endpoints"]}, names)

    def test_routes_lead_to_a_service(self):
        routes = rendered.of_kind(self.all["memory with route"], "GRPCRoute")
        self.assertEqual(len(routes), 1)
        services = {each["metadata"]["name"]: each for each in rendered.of_kind(self.all["memory with route"], "Service")}
        for rule in routes[0]["spec"]["rules"]:
            for backend in rule["backendRefs"]:
                self.assertIn(backend["port"], [port["port"] for port in services[backend["name"]]["spec"]["ports"]])

    def test_mounts_have_volumes_and_secrets_are_never_in_the_manifests(self):
        for objects, workloads in self.each():
            self.assertEqual(rendered.of_kind(objects, "Secret"), [])
            configs = {each["metadata"]["name"] for each in rendered.of_kind(objects, "ConfigMap")}
            for each in workloads:
                volumes = {volume["name"] for volume in rendered.pod(each).get("volumes", [])}
                for container in rendered.pod(each)["containers"]:
                    mounts = {mount["name"] for mount in container.get("volumeMounts", [])}
                    self.assertEqual(mounts, volumes)
                    for source in container.get("envFrom", []):
                        self.assertIn(source["configMapRef"]["name"], configs)

    def test_files_named_in_settings_are_mounted(self):
        for objects, _ in self.each():
            mounts = [mount["mountPath"] for mount in
                      rendered.pod(rendered.workload(objects))["containers"][0].get("volumeMounts", [])]
            for name, value in rendered.settings(objects).items():
                for path in value.split(","):
                    if path.startswith("/"):
                        self.assertTrue(any(path.startswith(mount + "/") for mount in mounts), (name, path))

    def test_the_grace_outlasts_the_drain_and_the_drain_the_endpoints(self):
        endpoints_removed = 10
        for objects, _ in self.each():
            own = rendered.pod(rendered.workload(objects))
            told = rendered.settings(objects)
            sleep = own["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
            served = sleep + seconds(told["REVERSI_DRAIN_DELAY"])
            ended = served + seconds(told["REVERSI_DRAIN_GRACE"])
            self.assertGreater(served, endpoints_removed)
            self.assertGreater(ended, served)
            self.assertGreater(own["terminationGracePeriodSeconds"], ended + 10)
            # Health is NOT_SERVING while it drains: the kubelet must not take that for death.
            probe = own["containers"][0]["livenessProbe"]
            self.assertGreater(probe["failureThreshold"] * probe["periodSeconds"], ended)

    def test_pods_are_restricted(self):
        kinds = {"configMap", "secret", "persistentVolumeClaim", "emptyDir", "projected", "downwardAPI"}
        for _, workloads in self.each():
            for each in workloads:
                own = rendered.pod(each)
                self.assertFalse(own["automountServiceAccountToken"])
                self.assertTrue(own["securityContext"]["runAsNonRoot"])
                self.assertGreater(own["securityContext"]["runAsUser"], 0)
                self.assertEqual(own["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
                self.assertFalse({"hostNetwork", "hostPID", "hostIPC"} & set(own))
                for volume in own.get("volumes", []):
                    self.assertTrue(set(volume) - {"name"} <= kinds)
                for container in own["containers"]:
                    context = container["securityContext"]
                    self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
                    self.assertFalse(context["allowPrivilegeEscalation"])
                    self.assertTrue(context["readOnlyRootFilesystem"])
                    self.assertRegex(container["image"], r":v?\d")

    def test_the_server_has_two_cpus_of_room(self):
        for objects, _ in self.each():
            limits = rendered.pod(rendered.workload(objects))["containers"][0]["resources"]["limits"]
            self.assertGreaterEqual(float(limits["cpu"]), 2)

    def test_every_setting_is_one_that_the_server_knows(self):
        told = subprocess.run([SERVER, "--help"], capture_output=True, text=True, check=True).stdout
        known = set(re.findall(r"REVERSI_[A-Z_]+", told))
        self.assertIn("REVERSI_LISTEN", known)
        for objects, _ in self.each():
            self.assertEqual(set(rendered.settings(objects)) - known, set())
            self.assertEqual(rendered.pod(rendered.workload(objects))["containers"][0].get("args", []), [])


class Overlays(unittest.TestCase):
    def test_the_largest_honest_request_is_read_and_not_much_more(self):
        # A request of empty seats takes 30 times its size in memory: a dozen of 4 MiB are more than the pod has.
        largest = int(rendered.settings(rendered.overlay("memory"))["REVERSI_MAX_MESSAGE_BYTES"])
        request = server.api.CreateGameRequest(
            rules=server.api.Rules(blocked_squares=["j10"] * 25), request_id="r" * 64, game_id="g" * 63,
            seats=[server.api.Seat(color=1, kind=1, display_name="n" * 64)] * 6, opening_moves=["m" * 64] * 256)
        self.assertLess(request.ByteSize(), 32768)
        self.assertLessEqual(32768, largest)
        self.assertLessEqual(largest, 1 << 18)

    def test_the_server_starts_with_the_settings_and_is_healthy_where_it_is_probed(self):
        settings = {name: re.sub(r"^0\.0\.0\.0:\d+$", "127.0.0.1:0", value)
                    for name, value in rendered.settings(rendered.overlay("memory")).items()}
        with server.Server(SERVER, environment={**os.environ, **settings}) as own:
            with grpc.insecure_channel(own.health_address) as channel:
                check = channel.unary_unary("/grpc.health.v1.Health/Check")
                for service in (b"", b"\x0a\x16reversi.v1.GameService"):
                    self.assertEqual(check(service, timeout=server.PATIENCE, wait_for_ready=True), b"\x08\x01")
            self.assertEqual(own.stop(), 0)

    def test_memory_has_one_replica_and_never_two(self):
        own = rendered.workload(rendered.overlay("memory"))
        self.assertEqual((own["spec"]["replicas"], own["spec"]["strategy"]["type"]), (1, "Recreate"))

    @unittest.skipUnless("disk" in rendered.OVERLAYS, "there is no such overlay")
    def test_disk_is_a_stateful_set_of_one_with_a_claim(self):
        own = rendered.workload(rendered.overlay("disk"))
        self.assertEqual((own["kind"], own["spec"]["replicas"]), ("StatefulSet", 1))
        claims = {each["metadata"]["name"] for each in own["spec"]["volumeClaimTemplates"]}
        mounts = {each["name"]: each["mountPath"] for each in rendered.pod(own)["containers"][0]["volumeMounts"]}
        self.assertEqual(len(claims), 1)
        self.assertIn(mounts[claims.pop()], rendered.settings(rendered.overlay("disk"))["REVERSI_DATA_DIR"])

    @unittest.skipUnless("replicated" in rendered.OVERLAYS, "there is no such overlay")
    def test_replicated_has_three_and_names_every_member_of_its_etcd(self):
        objects = rendered.overlay("replicated")
        scaler = rendered.of_kind(objects, "HorizontalPodAutoscaler")[0]
        self.assertGreaterEqual(scaler["spec"]["minReplicas"], 3)
        etcd = rendered.workload(objects, "reversi-etcd")
        members = ["reversi-etcd-%d" % number for number in range(etcd["spec"]["replicas"])]
        self.assertEqual(len(members), 3)
        told = rendered.settings(objects)["REVERSI_ETCD_ENDPOINTS"].split(",")
        self.assertEqual(told, ["%s.reversi-etcd:2379" % member for member in members])
        arguments = dict(each.partition("=")[::2] for each in rendered.pod(etcd)["containers"][0]["args"])
        self.assertEqual(arguments["--initial-cluster"],
                         ",".join("%s=https://%s.reversi-etcd:2380" % (each, each) for each in members))

    def test_scaling_budgets_and_spread_are_for_replicas_only(self):
        for name in rendered.OVERLAYS:
            objects = rendered.overlay(name)
            several = name == "replicated"
            self.assertEqual(bool(rendered.of_kind(objects, "HorizontalPodAutoscaler")), several)
            self.assertEqual(bool(rendered.of_kind(objects, "PodDisruptionBudget")), several)
            self.assertEqual("topologySpreadConstraints" in rendered.pod(rendered.workload(objects)), several)


if __name__ == "__main__":
    reason = rendered.why_not()
    if reason is not None:
        print("skipped: " + reason)
        sys.exit(SKIPPED)
    unittest.main()
