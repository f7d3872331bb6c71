import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.lttng.ust.agent.log4j.LttngLogAppender;

/** Sends messages of log4j 1.2 to the agent. */
public class Log4jMessages {
    public static void main(String[] arguments) throws Exception {
        LttngLogAppender appender = new LttngLogAppender();
        Logger[] loggers = {Logger.getLogger("app"), Logger.getLogger("app.sub"), Logger.getLogger("other")};
        for (Logger logger : loggers) {
            logger.setAdditivity(false);
            logger.addAppender(appender);
            logger.setLevel(Level.ALL);
        }
        if (arguments.length > 0) {
            System.out.println("ready");
            System.in.read();
        }
        for (Logger logger : loggers) {
            logger.debug("debug");
            logger.info("info");
            logger.warn("warn");
            logger.error("error");
        }
        for (Logger logger : loggers) {
            logger.removeAppender(appender);
        }
        // Closed, it would wait for its thread that sleeps as there is no daemon of the user, or of root.
    }
}
