"""An S3 server in memory, moto's, on a port of the loopback address: <port>.

One request at a time: moto's entries are not safe from writes to one key that race.
"""

import sys
import threading

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple


class OneAtATime:
    def __init__(self, application):
        self.application = application
        self.turn = threading.Lock()

    def __call__(self, environ, start_response):
        with self.turn:
            return list(self.application(environ, start_response))


application = DomainDispatcherApplication(create_backend_app)
run_simple("127.0.0.1", int(sys.argv[1]), OneAtATime(application), threaded=True)
