"""A cluster of Ray on one machine: prints its address, then does what it reads: add | remove NAME. Ends with its input."""

import os
import sys

from ray.cluster_utils import Cluster

if __name__ == "__main__":
    say, sys.stdout = sys.stdout, sys.stderr
    quiet = {"node_ip_address": "127.0.0.1", "include_dashboard": False, "object_store_memory": 100 << 20, "num_gpus": 0}
    cluster = Cluster(initialize_head=True, head_node_args={**quiet, "num_cpus": 2 if "--two" in sys.argv else 1})
    nodes = {}
    print("address", cluster.address, file=say, flush=True)
    for line in sys.stdin:
        command, *name = line.split()
        if command == "add":
            name = f"node{len(nodes)}"
            nodes[name] = cluster.add_node(num_cpus=1, num_gpus=0, node_ip_address="127.0.0.1", object_store_memory=100 << 20)
            print(name, file=say, flush=True)
        else:
            cluster.remove_node(nodes[name[0]], allow_graceful=False)
            print("removed", file=say, flush=True)
    cluster.shutdown()
    os._exit(0)
